#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/analyze/gpu/launches.h"
#include "core/base/span_sums.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Several times the 3 to 6 us that a launch needs to reach an idle GPU.
constexpr Ns kLeastMedian = 25 * kNsPerUs;

struct Backlog {
  std::vector<Ns> waits;  // one a launch; 0 where the GPU was mostly idle meanwhile
  std::vector<FindingSpan> spans;
};

std::map<std::int32_t, SpanSet> busy_by_device(const Facts& facts) {
  std::map<std::int32_t, SpanSet> out;
  for (const GpuOp& op : facts.ops) append(out[op.device], op.span);
  return out;
}

// A wait on an idle GPU is start-up or code loading, not a queue.
Ns queued(const SpanSums& busy, const GpuOp& op) {
  const Ns wait = launch_delay(op);
  if (wait == 0 || busy.within({op.launch_span.end, op.span.begin}) < wait - wait / 2) return 0;
  return wait;
}

Backlog backlog_of(const Facts& facts) {
  const std::map<std::int32_t, SpanSet> sets = busy_by_device(facts);
  std::map<std::int32_t, SpanSums> busy;
  for (const auto& [device, set] : sets) busy.emplace(device, set);
  Backlog out;
  std::vector<bool> seen(facts.trace.slice_count());  // calls whose first GPU work has been met: of a graph only that waits
  for (const GpuOp& op : facts.ops) {
    if (!op.linked() || seen[op.launch.index()]) continue;
    seen[op.launch.index()] = true;
    const Ns wait = queued(busy.at(op.device), op);
    out.waits.push_back(wait);
    if (wait >= kLeastMedian)
      out.spans.push_back({facts.trace.lane_id(op.slice), {op.launch_span.end, op.span.begin}, op.slice});
  }
  return out;
}

std::vector<Finding> check_gpu_backlog(const Facts& facts) {
  if (is_overhead_bound(facts) || is_idle_mostly(facts)) return {};  // ahead now and then, and late where it counts
  Backlog backlog = backlog_of(facts);
  const Ns median = median_of(backlog.waits);
  if (median < kLeastMedian) return {};
  const Ns longest = *std::max_element(backlog.waits.begin(), backlog.waits.end());
  Finding finding;
  finding.severity = Severity::informational;
  finding.summary = fmt::format("Work waited {} (median) in the queue of a busy GPU, at most {}.", format_duration(median),
                                format_duration(longest));
  finding.evidence = Evidence({{"median_queue_us", as_us(median)},
                               {"max_us", as_us(longest)},
                               {"launches", backlog.waits.size()},
                               {"waited", backlog.spans.size()}});
  mark_gaps(finding, std::move(backlog.spans));
  return {std::move(finding)};
}

}  // namespace

extern const Rule gpu_backlog = {
    .id = "gpu_backlog",
    .rule_class = RuleClass::good_sign,
    .severity = Severity::informational,
    .needs = kNeedsLaunches,
    .title = "The CPU runs ahead of the GPU",
    .meaning = "Launches wait in the queue because the GPU is busy with earlier ones. The host does not limit the speed.",
    .remedy =
        "Optimize the kernels. A call that waits for the GPU looks long here, but its time belongs to the work queued before "
        "it.",
    .check = check_gpu_backlog,
};

}  // namespace gapscope
