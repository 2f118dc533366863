#include "app/cli/whatif.h"

#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "core/base/parallel.h"
#include "core/base/text.h"
#include "core/index/lane_index.h"
#include "core/load/arg_texts.h"
#include "core/replay/at_roofline.h"
#include "core/replay/changes.h"

namespace gapscope {
namespace {

using Json = nlohmann::ordered_json;

double share(Ns part, Ns whole) { return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0; }

Json whatif_json(const Trace& trace, const ReplayModel& model, const ReplayResult& result) {
  const GpuBusy busy = gpu_busy(model, result);
  Json steps = Json::array();
  for (const ReplayedStep& s : result.steps)
    steps.push_back({{"name", trace.name(s.slice)}, {"before_ns", s.before.length()}, {"after_ns", s.after.length()}});
  return {{"before_ns", result.before},
          {"after_ns", result.after},
          {"steps", std::move(steps)},
          {"gpu_busy", {{"before", share(busy.before, result.before)}, {"after", share(busy.after, result.after)}}},
          {"latency_ns", model.latency()},
          {"waits", model.waits()}};
}

std::string whatif_text(const Trace& trace, const ReplayModel& model, const ReplayResult& result) {
  const GpuBusy busy = gpu_busy(model, result);
  std::string out = fmt::format("the run: {} before, {} after\nGPU busy: {} before, {} after\n", format_duration(result.before),
                                format_duration(result.after), format_percent(share(busy.before, result.before)),
                                format_percent(share(busy.after, result.after)));
  for (const ReplayedStep& s : result.steps)
    out += fmt::format("  {:<20} {:>9} {:>9}\n", printable(trace.name(s.slice)), format_duration(s.before.length()),
                       format_duration(s.after.length()));
  return out;
}

Change kernels_at_roofline(const Trace& trace, const LaneIndex& lanes, const LinkIndex& links, const ReplayModel& model,
                           double reached) {
  const std::vector<OwnedWork> work = owned_work(trace, lanes, links);
  const Result<ArgTexts> values = read_arg(trace, values_needed(trace, lanes, work), "Concrete Inputs", hardware_threads());
  return at_roofline(model, trace, work_table(trace, lanes, work, values ? *values : ArgTexts{}), reached);
}

}  // namespace

int whatif(const WhatIfOptions& options) {
  const std::shared_ptr<const Trace> loaded = load_or_say_why(options.trace);
  if (!loaded) return kBadInput;
  const Trace& trace = *loaded;
  const LaneIndex lanes(trace);
  const LinkIndex links(trace, lanes);
  const NameIndex names(trace);
  const std::unique_ptr<const ReplayModel> model = ReplayModel::make(trace, names, gpu_ops(trace, links));
  Result<Change> change = read_changes(trace, names, *model, options.changes);
  if (!change.ok()) {
    std::fprintf(stderr, "gapscope: %s\n", printable(change.error().message).c_str());
    return kUsage;
  }
  if (const double reached = std::strtod(options.roofline.c_str(), nullptr); reached > 0)
    *change = both(std::move(*change), kernels_at_roofline(trace, lanes, links, *model, reached));
  const ReplayResult result = replay(*model, *change);
  return print(options.json ? json_text(whatif_json(trace, *model, result)) + "\n" : whatif_text(trace, *model, result));
}

}  // namespace gapscope
