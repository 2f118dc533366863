#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/conditions/compiled_calls.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/launched_in.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr double kLeastLossShare = 0.08;  // of the GPU time

// What F.cross_entropy is made of, forward and backward.
constexpr std::array<std::string_view, 4> kStepsOfLoss = {"aten::_log_softmax", "aten::_log_softmax_backward_data",
                                                          "aten::nll_loss_forward", "aten::nll_loss_backward"};

std::vector<Finding> check_cross_entropy_in_steps(const Facts& facts) {
  std::vector<SliceId> ops;
  std::size_t losses = 0;
  for (const SliceId s : cpu_slices_called(facts, "aten::_log_softmax", kIsOp))
    if (facts.trace.name(s) == kStepsOfLoss[0] || facts.trace.name(s) == kStepsOfLoss[1]) ops.push_back(s);
  for (const SliceId s : cpu_slices_called(facts, "aten::nll_loss_", kIsOp)) {
    losses += facts.trace.name(s) == kStepsOfLoss[2] ? 1U : 0U;
    if (facts.trace.name(s) == kStepsOfLoss[2] || facts.trace.name(s) == kStepsOfLoss[3]) ops.push_back(s);
  }
  std::erase_if(ops, [&](SliceId s) { return in_compiled_code(facts, s); });
  if (losses == 0 || ops.empty()) return {};
  const LaunchedWork work = work_launched_in(facts, ops);
  const double share = share_of(work.time, facts.gpu_sum);
  if (share < kLeastLossShare) return {};
  Finding finding;
  finding.severity = Severity::notable;
  finding.cost = work.time / 2;
  finding.summary = fmt::format("{} of cross entropy, forward and backward, ran as {}. They take {} of the GPU time ({}).",
                                sentence_start(counted(losses, "call")), counted(work.slices.size(), "separate kernel"),
                                format_share(share), format_duration(work.time));
  finding.evidence = Evidence({{"n", losses}, {"total_us", as_us(work.time)}, {"share", share}});
  mark_slices(finding, facts.trace, work.slices);
  return {std::move(finding)};
}

}  // namespace

extern const Rule cross_entropy_in_steps = {
    .id = "cross_entropy_in_steps",
    .rule_class = RuleClass::problem,
    .severity = Severity::notable,
    .needs = kNeedsOperators | kNeedsLaunches,
    .title = "The loss reads and writes all logits several times",
    .meaning =
        "log_softmax writes a tensor as large as the logits, and the backward pass reads and writes it again. In float32 each "
        "of these tensors is twice as large.",
    .remedy =
        "Fuse it: {compile|torch.compile around the loss}, {compile_rest|compile the loss with the rest}, {|a fused linear "
        "cross entropy, which never stores all logits}. Until then leave the logits in 16 bits (no .float() before the loss).",
    .check = check_cross_entropy_in_steps,
    .claim = Claim{.time = ClaimedTime::kernels, .turn = 256, .explains = {"amp_casts", "unfused_elementwise_chain"}},
    .code = "{compile!}loss = torch.compile(F.cross_entropy)(logits, labels)",
    .gives = {Cure::half},
};

}  // namespace gapscope
