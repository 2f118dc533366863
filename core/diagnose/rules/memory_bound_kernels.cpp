#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/measured_kernels.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// A fifth of the kernels' time: what fusing saves of it can be seen in a step.
constexpr double kLeastMemoryBoundShare = 0.20;

std::vector<Finding> check_memory_bound_kernels(const Facts& facts) {
  const MeasuredShare bound =
      measured_share(facts, [](const MeasuredKernel& kernel) { return kernel.place == KernelPlace::memory_bound; });
  if (bound.kernels.empty() || bound.share < kLeastMemoryBoundShare) return {};
  const MeasuredKernel& most = *bound.kernels.front();
  const std::string_view name = facts.trace.strings[most.name];
  Finding finding;
  finding.severity = Severity::notable;
  finding.cost = bound.time;
  finding.summary = fmt::format(
      "Kernels with DRAM above {2:.0f} % of its peak take {0} of the kernel time ({1}). Most of it is in {3}: {4}, with DRAM "
      "at {5:.0f} %.",
      format_share(bound.share), format_duration(bound.time), kBoundShare, shown_kernel(name), format_duration(most.time),
      most.means[CounterKind::dram_share]);
  finding.evidence = Evidence({{"share", bound.share},
                               {"total_us", as_us(bound.time)},
                               {"most_time_in", name},
                               {"dram_of_peak", most.means[CounterKind::dram_share] / 100},
                               {"samples", static_cast<std::int64_t>(most.means.samples)},
                               {"distinct", bound.kernels.size()}});
  mark_slices(finding, facts.trace, bound.slices);
  return {std::move(finding)};
}

}  // namespace

extern const Rule memory_bound_kernels = {
    .id = "memory_bound_kernels",
    .rule_class = RuleClass::problem_locator,
    .severity = Severity::notable,
    .needs = kNeedsGpuWork | kNeedsCounters,
    .title = "Kernels are bound by the GPU's memory",
    .meaning =
        "By its counters, DRAM is near its peak while these kernels run. Faster computation inside them would change nothing.",
    .remedy =
        "Move fewer bytes: {compile|fuse them with adjacent kernels (torch.compile)}, {compile_rest}, {autocast|a smaller data "
        "type (torch.autocast)}, {|write no intermediate results}.",
    .check = check_memory_bound_kernels,
    .claim = Claim{.time = ClaimedTime::kernels, .turn = 350},
    .other_remedy =
        "Move fewer bytes: fuse them with adjacent kernels, use a smaller data type, write no intermediate results.",
};

}  // namespace gapscope
