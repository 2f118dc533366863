#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "core/analyze/work/work_call.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/recorded_calls.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr std::string_view kAttentionCall = "aten::scaled_dot_product_attention";
constexpr double kLeastMaskedShare = 0.05;  // of the GPU time
// A causal kernel leaves out the half of the scores that the mask hides.
constexpr double kSparedByCausal = 0.5;

// A mask for each pair of places and none for each sequence or head: [T, T], with a T for the queries and one for the keys.
bool is_mask_of_places(const WorkCall& call) {
  const Sizes &query = call.sizes(0), &key = call.sizes(1), &mask = call.sizes(3);
  if (query.size() < 2 || key.size() < 2 || mask.size() < 2) return false;
  const double queries = query[query.size() - 2], keys = key[key.size() - 2];
  const bool is_one = std::all_of(mask.begin(), mask.end() - 2, [](double size) { return size == 1; });
  return is_one && queries == keys && mask[mask.size() - 2] == queries && mask.back() == keys && queries > 1;
}

std::vector<Finding> check_constant_causal_mask(const Facts& facts) {
  std::vector<SliceId> calls;
  std::set<StringId> shapes;
  for (const SliceId s : cpu_slices_called(facts, kAttentionCall, kIsOp)) {
    if (SliceId around = facts.ancestor(s, kIsOp); around && facts.trace.name(around) == kAttentionCall)
      continue;  // of autocast
    const auto call = recorded_call(facts, s);
    if (!call || !is_mask_of_places(*call)) continue;
    calls.push_back(s);
    shapes.insert(facts.trace.op_row(s)->input_dims);
  }
  if (calls.empty()) return {};
  std::vector<SliceId> work;
  Ns time = 0;
  for (const GpuOp& op : facts.ops) {
    if (!op.linked() || !op.is_kernel() || !is_fused_attention(facts.decoded(op))) continue;
    work.push_back(op.slice);
    add_saturating(time, op.span.length());
  }
  const double share = share_of(time, facts.gpu_sum);
  if (share < kLeastMaskedShare) return {};
  Finding finding;
  finding.severity = Severity::notable;
  finding.cost = static_cast<Ns>(kSparedByCausal * static_cast<double>(time));
  finding.summary = fmt::format(
      "{} of attention got a mask with one value for each pair of positions{}. Attention takes {} of the GPU time ({}).",
      sentence_start(counted(calls.size(), "call")), shapes.size() == 1 ? ", always of the same shape" : "",
      format_share(share), format_duration(time));
  finding.evidence = Evidence({{"n", calls.size()}, {"share", share}, {"total_us", as_us(time)}});
  mark_slices(finding, facts.trace, work);
  return {std::move(finding)};
}

}  // namespace

extern const Rule constant_causal_mask = {
    .id = "constant_causal_mask",
    .rule_class = RuleClass::problem,
    .severity = Severity::notable,
    .needs = kNeedsOperators | kNeedsLaunches | kNeedsShapes,
    .title = "Attention reads its causal mask from a tensor",
    .meaning =
        "A mask that is the same for all sequences is usually the causal mask. As a tensor it is read for every head, and the "
        "masked half of the scores is computed.",
    .remedy = "If it is the causal mask, pass is_causal=True instead of the tensor.",
    .check = check_constant_causal_mask,
    .claim = Claim{.time = ClaimedTime::kernels, .turn = 252},
    .code = "attn_mask=None, is_causal=True",
    .gives = {Cure::at_stake},
};

}  // namespace gapscope
