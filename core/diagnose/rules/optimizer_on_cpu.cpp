#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/recorded_calls.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// A step of the optimizer that launches nothing.
constexpr std::string_view kOptimizerRange = "Optimizer.step#";
constexpr Ns kLeastCpuStep = kNsPerMs;

struct LaunchedCopy {
  Span call;
  bool is_copy = false, to_host = false;
};

// The launches of the optimizer's thread in time order.
std::vector<LaunchedCopy> launches_of(const Facts& facts, LaneId lane) {
  std::vector<LaunchedCopy> out;
  for (const GpuOp& op : facts.ops)
    if (op.linked() && facts.trace.lane_id(op.launch) == lane)
      out.push_back({op.launch_span, op.gpu_class == GpuClass::copy, facts.name(op).find("DtoH") != std::string_view::npos});
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.call.begin < b.call.begin; });
  return out;
}

std::vector<Finding> check_optimizer_on_cpu(const Facts& facts) {
  std::vector<FindingSpan> places;
  Ns time = 0, copying = 0;
  std::size_t copies = 0;
  std::vector<LaunchedCopy> launches;
  LaneId lane;
  for (const SliceId s : cpu_slices_called(facts, kOptimizerRange, kIsAnnotation)) {
    if ((facts.below(s) & (kIsLaunch | kIsGraphLaunch)) != 0 || (facts.below(s) & kIsOp) == 0) continue;
    if (facts.trace.duration(s) < kLeastCpuStep) continue;
    if (facts.trace.lane_id(s) != lane) launches = launches_of(facts, lane = facts.trace.lane_id(s));
    const Span step = facts.trace.span_of(s);
    Span whole = step;
    const auto at = std::lower_bound(launches.begin(), launches.end(), step.begin,
                                     [](const LaunchedCopy& l, Ns t) { return l.call.begin < t; });
    for (auto i = at; i != launches.begin() && std::prev(i)->is_copy && std::prev(i)->to_host; --i, ++copies)
      whole.begin = std::prev(i)->call.begin;
    for (auto i = at; i != launches.end() && i->is_copy && !i->to_host; ++i, ++copies) whole.end = i->call.end;
    places.push_back({lane, whole, SliceId{}});
    add_saturating(time, step.length());
    add_saturating(copying, whole.length() - step.length());
  }
  const double share = share_of(sum_saturating(time, copying), facts.window_length);
  constexpr double kLeastCpuShare = 0.02;
  if (places.empty() || share < kLeastCpuShare) return {};
  Finding finding;
  finding.severity = Severity::costly;
  finding.cost = sum_saturating(time, copying);
  finding.summary = fmt::format("The optimizer runs on the CPU: {} without a kernel in {}", format_duration(time),
                                counted(places.size(), "step"));
  if (copies > 0)
    finding.summary +=
        fmt::format(", and {} of gradients and weights around it take {}", counted(copies, "copy"), format_duration(copying));
  finding.summary += fmt::format(". That is {} of the window.", format_share(share));
  finding.evidence = Evidence(
      {{"n", places.size()}, {"total_us", as_us(time)}, {"copies", copies}, {"copying_us", as_us(copying)}, {"share", share}});
  mark_gaps(finding, std::move(places));
  return {std::move(finding)};
}

}  // namespace

extern const Rule optimizer_on_cpu = {
    .id = "optimizer_on_cpu",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsLaunches | kNeedsOperators,
    .title = "The optimizer runs on the CPU",
    .meaning =
        "Gradients are copied to the host, the CPU updates the weights, and these are copied back. The GPU is idle meanwhile.",
    .remedy =
        "Store the optimizer's weights and its state on the GPU. If they are on the CPU to save memory, use "
        "{fused_optimizer|fused=True}, {pinned_memory|pinned memory}, {|copies while the backward pass still runs}.",
    .check = check_optimizer_on_cpu,
    .claim = Claim{.time = ClaimedTime::idle, .turn = 41, .explains = {"memcpy_heavy", "pageable_memcpy"}},
    .gives = {Cure::gone},
};

}  // namespace gapscope
