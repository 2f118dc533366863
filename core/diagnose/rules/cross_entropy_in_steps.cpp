#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/autocast.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/launched_in.h"
#include "core/diagnose/conditions/recorded_calls.h"
#include "core/diagnose/conditions/work_origin.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr double kLeastLossShare = 0.08;  // of the GPU time
// Of its time, at most: one pass reads the logits and one reads and writes them. With casts around them they are half as large
// then, and the casts go, too; 80 % went of 8,192 rows of 32,768 words (tests/gpu/experts_say.py, H200).
constexpr double kSparedByFusing = 0.6, kSparedWithCasts = 0.85;

// What F.cross_entropy is made of, forward and backward.
constexpr std::array<std::string_view, 4> kStepsOfLoss = {"aten::_log_softmax", "aten::_log_softmax_backward_data",
                                                          "aten::nll_loss_forward", "aten::nll_loss_backward"};

// Of the logits, right before the loss and right behind its backward pass.
std::vector<SliceId> casts_around(const Facts& facts, const std::vector<SliceId>& loss) {
  std::vector<bool> is_loss(facts.trace.slice_count());
  for (const SliceId s : loss) is_loss[s.index()] = true;
  std::vector<SliceId> out;
  for (const StreamOps& stream : streams_of(facts.ops))
    for (std::size_t i = 0; i < stream.ops.size(); ++i) {
      const GpuOp& op = facts.ops[stream.ops[i]];
      const auto is_neighbour = [&](std::size_t at) {
        return at < stream.ops.size() && is_loss[facts.ops[stream.ops[at]].slice.index()];
      };
      if (!op.linked() || is_loss[op.slice.index()] || !(is_neighbour(i + 1) || is_neighbour(i - 1))) continue;
      if (may_be_cast(facts, op, origin_of(facts, op))) out.push_back(op.slice);
    }
  return out;
}

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
  const std::vector<SliceId> casts = casts_around(facts, work.slices);
  Ns casting = 0;
  for (const SliceId s : casts) add_saturating(casting, facts.trace.duration(s));
  finding.cost = static_cast<Ns>((casts.empty() ? kSparedByFusing : kSparedWithCasts) *
                                 static_cast<double>(sum_saturating(work.time, casting)));
  finding.summary = fmt::format("{} of cross entropy, forward and backward, ran as {}. They take {} of the GPU time ({}).",
                                sentence_start(counted(losses, "call")), counted(work.slices.size(), "separate kernel"),
                                format_share(share), format_duration(work.time));
  if (!casts.empty()) finding.summary += fmt::format(" Casts of the logits around them take {}.", format_duration(casting));
  finding.evidence = Evidence({{"n", losses}, {"total_us", as_us(work.time)}, {"share", share}});
  std::vector<SliceId> places = work.slices;
  places.insert(places.end(), casts.begin(), casts.end());
  mark_slices(finding, facts.trace, places);
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
    .gives = {Cure::at_stake},
};

}  // namespace gapscope
