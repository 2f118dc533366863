#include "app/attach/recorded_facts.h"

#include <algorithm>

#include "core/analyze/account/time_account.h"
#include "core/analyze/gpu/gpu_ops.h"
#include "core/analyze/steps.h"
#include "core/index/lane_index.h"
#include "core/index/link_index.h"
#include "core/load/load_trace.h"

namespace gapscope::attach {

std::optional<Ns> median(std::vector<Ns> values) {
  if (values.empty()) return std::nullopt;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::optional<RecordedFacts> facts_of_recording(const std::string& path) {
  const auto trace = load_trace(path);
  if (!trace.ok()) return std::nullopt;
  const LaneIndex lanes(**trace);
  const LinkIndex links(**trace, lanes);
  const std::vector<GpuOp> ops = gpu_ops(**trace, links);
  const TimeAccount account(**trace, links, ops);
  RecordedFacts facts;
  facts.window = account.window().length();
  if (const DeviceAccount* device = account.busiest()) facts.busy = device->times.window - device->times.idle_total();
  std::vector<Ns> lengths;
  const Steps steps = make_steps(**trace, ops);
  if (steps.annotated)
    for (const Step& step : steps.steps) lengths.push_back(step.span.length());
  facts.step = median(std::move(lengths));
  return facts;
}

bool is_slow(Ns step, std::span<const Ns> before, double times) {
  const std::optional<Ns> usual = median({before.begin(), before.end()});
  return !usual || static_cast<double>(step) > times * static_cast<double>(*usual);
}

}  // namespace gapscope::attach
