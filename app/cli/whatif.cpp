#include "app/cli/whatif.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "app/cli/whatif_report.h"
#include "core/base/text.h"
#include "core/diagnose/verdict.h"
#include "core/load/arg_texts.h"
#include "core/replay/at_roofline.h"
#include "core/replay/changes.h"
#include "core/view/document.h"

namespace gapscope {
namespace {

Change kernels_at_roofline(const Document& d, const ReplayModel& model, double reached) {
  return at_roofline(model, d.trace, work_table(d.trace, d.lanes, d.links, concrete_inputs()), reached);
}

// The first change that one trace alone cannot have, or null.
const char* word_of_ranks(const std::vector<std::string>& changes) {
  for (const std::string& change : changes)
    for (const char* word : {"rank", "link", "on"})
      if (change.starts_with(std::string(word) + ' ')) return word;
  return nullptr;
}

}  // namespace

int whatif(const WhatIfOptions& options) {
  std::error_code ignored;
  if (options.traces.size() > 1 || std::filesystem::is_directory(options.traces[0], ignored)) return whatif_run(options);
  if (const char* word = word_of_ranks(options.changes)) {
    std::fprintf(stderr, "gapscope: --%s is of several ranks: name their traces, or the folder that holds them.\n", word);
    return kUsage;
  }
  const std::shared_ptr<const Trace> loaded = load_or_say_why(options.traces[0]);
  if (!loaded) return kBadInput;
  const Document document(loaded);
  const Trace& trace = document.trace;
  const auto model = ReplayModel::make(trace, document.names, gpu_ops(trace, document.links));
  Result<Change> change = read_changes(trace, document.names, *model, options.changes);
  if (!change.ok()) {
    std::fprintf(stderr, "gapscope: %s\n", printable(change.error().message).c_str());
    return kUsage;
  }
  if (const double reached = std::strtod(options.roofline.c_str(), nullptr); reached > 0)
    *change = both(std::move(*change), kernels_at_roofline(document, *model, reached));
  else if (options.changes.empty())
    document.judge();
  const ReplayResult result = replay(*model, *change);
  const HostTime host(trace);
  WhatIfReport report{trace,
                      *model,
                      result,
                      gpu_busy(*model, result),
                      {},
                      document.diagnosis(),
                      profiler_cost(trace, model->run()),
                      change->full_queues,
                      options.path,
                      {},
                      {}};
  report.next = bound_of(times_after(trace, host, *model, *change, result));
  if (options.path && !model->empty()) {
    report.path = critical_path(*model, *change, result);
    report.sums = path_sums(trace, host, *change, report.path);
  }
  return print(options.json ? whatif_json(report) : whatif_text(report));
}

}  // namespace gapscope
