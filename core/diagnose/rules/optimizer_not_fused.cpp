#include <algorithm>

#include <fmt/format.h>

#include "core/analyze/practices/practices.h"
#include "core/base/phrase.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/fused_optimizer.h"
#include "core/diagnose/conditions/recorded_calls.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

// Of the GPU time.
constexpr double kLeastOptimizerShare = 0.10;
// Adam over lists reads and writes each parameter's 4 tensors 19 times, fused 7 times; SGD with momentum 8 and 5 times.
constexpr double kGainWithFused = 0.5;

std::vector<Finding> check_optimizer_not_fused(const Facts& facts) {
  const Practices& practices = facts.practices();
  if (practices.program != ProgramKind::python || practices.follows(Practice::fused_optimizer)) return {};
  std::vector<SliceId> steps = cpu_slices_called(facts, kOptimizerStep, kIsAnnotation);
  std::erase_if(steps, [&](SliceId s) { return fusible_optimizer(facts.trace.name(s)).empty() || in_compiled_code(facts, s); });
  if (steps.empty()) return {};
  std::vector<GpuOp> work;
  for (const GpuOp& op : facts.ops)
    if (op.linked() && op.is_kernel())
      if (const SliceId at = facts.ancestor(op.launch, kIsAnnotation); at && facts.trace.name(at).starts_with(kOptimizerStep))
        work.push_back(op);
  const Ns time = total_time(work);
  const double share = share_of(time, facts.gpu_sum);
  if (work.empty() || share < kLeastOptimizerShare) return {};
  const std::string_view name = facts.trace.name(steps.front()).substr(kOptimizerStep.size());
  Finding finding;
  finding.severity = Severity::notable;
  finding.cost = static_cast<Ns>(kGainWithFused * static_cast<double>(time));
  finding.summary =
      fmt::format("{} launched {}, {} of the GPU time ({}), in {}.", printable(name), counted(work.size(), "kernel"),
                  format_share(share), format_duration(time), counted(steps.size(), "step"));
  finding.evidence = Evidence({{"n", work.size()}, {"share", share}, {"total_us", as_us(time)}, {"steps", steps.size()}});
  finding.code = fitted(practices, fused_optimizer_line(facts));
  mark_slices(finding, facts.trace, slices_of(work));
  return {std::move(finding)};
}

}  // namespace

extern const Rule optimizer_not_fused = {
    .id = "optimizer_not_fused",
    .rule_class = RuleClass::problem,
    .severity = Severity::notable,
    .needs = kNeedsLaunches,
    .title = "The optimizer makes many passes over the parameters",
    .meaning =
        "Without a fused kernel the optimizer reads and writes the parameters, their gradients and its own state several times "
        "per step. That is bound by memory. The cost here is half of that time.",
    .remedy = "Pass fused=True to the optimizer of torch.optim, which then updates everything in one pass{fused_optimizer!}.",
    .check = check_optimizer_not_fused,
    .claim = Claim{.time = ClaimedTime::kernels, .turn = 258},
    .gives = {Cure::at_stake, false, true},
};

}  // namespace gapscope
