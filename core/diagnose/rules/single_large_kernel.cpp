#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Of all GPU time: what is left can speed nothing up by half.
constexpr double kLeastTopKernelShare = 0.70;
// Shorter ones are dominated by their launch, whatever their share.
constexpr Ns kLeastMedian = 50 * kNsPerUs;

bool is_library_family(RuleFamily family) {
  return family == RuleFamily::gemm || family == RuleFamily::conv || family == RuleFamily::attention;
}

std::vector<Finding> check_single_large_kernel(const Facts& facts) {
  const auto top = std::find_if(facts.by_name.begin(), facts.by_name.end(), [&](const NameTotal& total) {
    return is_library_family(rule_family(facts.decoded(total.name)));
  });
  if (top == facts.by_name.end()) return {};
  const double share = share_of(top->total, facts.gpu_sum);
  if (share < kLeastTopKernelShare) return {};
  std::vector<Ns> durations;
  std::vector<SliceId> slices;
  for (const GpuOp& op : facts.ops)
    if (op.linked() && facts.trace.name_id(op.slice) == top->name)
      durations.push_back(op.span.length()), slices.push_back(op.slice);
  const Ns median = median_of(std::move(durations));
  if (median < kLeastMedian) return {};
  const std::string_view name = facts.trace.strings[top->name];
  Finding finding;
  finding.severity = Severity::informational;
  finding.cost = top->total;
  finding.summary =
      fmt::format("{} takes {} of the GPU time in {} of {}{}.", shown_kernel(name), format_share(share),
                  counted(top->count, "launch"), format_duration(median), top->count == 1 ? "" : " each (median)");
  finding.evidence = Evidence({{"kernel", name},
                               {"share", share},
                               {"median_us", as_us(median)},
                               {"kernels", top->count},
                               {"time_us", as_us(top->total)}});
  mark_slices(finding, facts.trace, slices);
  return {std::move(finding)};
}

}  // namespace

extern const Rule single_large_kernel = {
    .id = "single_large_kernel",
    .rule_class = RuleClass::observation,
    .severity = Severity::informational,
    .needs = kNeedsLaunches,
    .title = "One big library kernel takes most of the GPU time",
    .meaning =
        "The GPU spends most of its time in one tuned matrix multiplication, convolution or attention kernel. There is little "
        "to fuse around it.",
    .remedy =
        "Fusing is unlikely to help. Change what it computes: {autocast|the data type (torch.autocast)}, {|the shape}, {|the "
        "algorithm}.",
    .check = check_single_large_kernel,
    .claim = Claim{.time = ClaimedTime::kernels, .turn = 380},
    .gives = {Cure::roofline},
};

}  // namespace gapscope
