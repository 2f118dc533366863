#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/analyze/practices/practices.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/launched_in.h"
#include "core/diagnose/conditions/loops.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr double kLeastNormedShare = 0.05;  // of the window on the host, or of the GPU time
constexpr std::size_t kLeastNormed = 8;

std::vector<Finding> check_live_parametrizations(const Facts& facts) {
  if (facts.compiling() || facts.practices().trains) return {};  // training changes what the weights are made of
  std::vector<FindingSpan> places;
  for (const Operators& ops : operators_by_thread_and_step(facts))
    for (std::size_t i = 0; i < ops.size(); ++i) {
      if (!facts.trace.name(ops[i]).starts_with("aten::_weight_norm")) continue;
      // With what Python does to reach it: torch/nn/utils/parametrize.py takes longer than the operator.
      const Ns begin = i > 0 ? facts.trace.end(ops[i - 1]) : facts.trace.begin(ops[i]);
      places.push_back({facts.trace.lane_id(ops[i]), {begin, facts.trace.end(ops[i])}, SliceId{}});
    }
  const std::size_t times = places.size();
  if (times < kLeastNormed) return {};
  Finding finding;
  const SparedTime time = mark_spared(facts, finding, std::move(places));
  if (time.share < kLeastNormedShare) return {};
  finding.severity = Severity::costly;
  finding.summary = fmt::format(
      "{} a weight was computed from its direction and length (weight_norm), although nothing is trained here. This takes {}.",
      sentence_start(often(times)), time.words());
  finding.evidence = time.evidence({{"n", times}});
  return {std::move(finding)};
}

}  // namespace

extern const Rule live_parametrizations = {
    .id = "live_parametrizations",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsOperators | kNeedsLaunches,
    .title = "Normalized weights are recomputed in each call",
    .meaning =
        "weight_norm computes the weight of a layer in each forward pass. In inference its parts do not change, so the result "
        "is "
        "the same each time.",
    .remedy =
        "Compute the weights once, after loading: torch.nn.utils.parametrize.remove_parametrizations(layer, \"weight\"). For "
        "the older torch.nn.utils.weight_norm: torch.nn.utils.remove_weight_norm(layer).",
    .check = check_live_parametrizations,
    .claim = Claim{.time = ClaimedTime::work, .turn = 266, .explains = {"many_small_kernels", "many_calls"}},
    .code = "torch.nn.utils.parametrize.remove_parametrizations(layer, \"weight\")  # once",
    .gives = {Cure::gone, false},
};

}  // namespace gapscope
