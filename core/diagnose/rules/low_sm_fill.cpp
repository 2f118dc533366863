#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Up to a third of the SMs go unused on average by rounding a good grid to whole blocks; below that the work is too small.
constexpr double kLeastFill = 0.65;
// A kernel that leaves this much free is worth marking.
constexpr double kMarkedFill = 0.65;

struct Unfilled {
  std::vector<SliceId> slices;
  double unused = 0;  // their time multiplied by the share of empty SMs
};

Unfilled unfilled_kernels(const Facts& facts) {
  Unfilled out;
  for (const GpuOp& op : facts.ops) {
    if (!op.linked() || op.gpu_class != GpuClass::compute) continue;
    const auto blocks = blocks_per_sm(facts, op);
    if (!blocks || *blocks >= kMarkedFill - kFillRounding) continue;
    out.slices.push_back(op.slice);
    out.unused += (1 - *blocks) * static_cast<double>(op.span.length());
  }
  return out;
}

std::vector<Finding> check_low_sm_fill(const Facts& facts) {
  const std::optional<SmFill> fill = sm_fill(facts);
  if (!fill || fill->fill >= kLeastFill - kFillRounding) return {};
  const Unfilled unfilled = unfilled_kernels(facts);
  Finding finding;
  finding.severity = Severity::notable;
  finding.cost = static_cast<Ns>(unfilled.unused);
  finding.summary = fmt::format("While kernels ran ({}, without {}), {} of the SMs had blocks on average.",
                                format_duration(fill->kernel_time), left_out_of_fill(facts), format_share(fill->fill));
  finding.evidence =
      Evidence({{"fill", fill->fill}, {"tb_sm_efficiency", fill->over_window}, {"kernel_us", as_us(fill->kernel_time)}});
  mark_slices(finding, facts.trace, unfilled.slices);
  return {std::move(finding)};
}

}  // namespace

extern const Rule low_sm_fill = {
    .id = "low_sm_fill",
    .rule_class = RuleClass::problem,
    .severity = Severity::notable,
    .needs = kNeedsLaunches | kNeedsBlocksPerSm,
    .title = "Kernels do not reach all SMs",
    .meaning = "Even while a kernel runs, many SMs have no block. The problems are small for this GPU.",
    .remedy = "Put more work into each call, use larger matrices, or use a kernel with smaller tiles or split reductions.",
    .check = check_low_sm_fill,
    .claim = Claim{.time = ClaimedTime::kernels, .turn = 310, .explains = {"small_grid"}},
    .gives = {Cure::at_stake},
};

}  // namespace gapscope
