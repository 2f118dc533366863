#include "app/cli/whatif.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "app/cli/whatif_report.h"
#include "core/base/parallel.h"
#include "core/base/text.h"
#include "core/diagnose/verdict.h"
#include "core/load/arg_texts.h"
#include "core/replay/at_roofline.h"
#include "core/replay/changes.h"
#include "core/view/document.h"

namespace gapscope {
namespace {

Change kernels_at_roofline(const Document& d, const ReplayModel& model, double reached) {
  const std::vector<OwnedWork> work = owned_work(d.trace, d.lanes, d.links);
  const Result<ArgTexts> values =
      read_arg(d.trace, values_needed(d.trace, d.lanes, work), "Concrete Inputs", hardware_threads());
  return at_roofline(model, d.trace, work_table(d.trace, d.lanes, work, values ? *values : ArgTexts{}), reached);
}

}  // namespace

int whatif(const WhatIfOptions& options) {
  const std::shared_ptr<const Trace> loaded = load_or_say_why(options.trace);
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
    document.diagnose();
  const ReplayResult result = replay(*model, *change);
  const HostTime host(trace);
  WhatIfReport report{trace, *model, result, gpu_busy(*model, result), {}, document.diagnosis(), options.path, {}, {}};
  report.next = bound_of(times_after(trace, host, *model, *change, result));
  if (options.path && !model->empty()) {
    report.path = critical_path(*model, *change, result);
    report.sums = path_sums(trace, host, *change, report.path);
  }
  return print(options.json ? whatif_json(report) : whatif_text(report));
}

}  // namespace gapscope
