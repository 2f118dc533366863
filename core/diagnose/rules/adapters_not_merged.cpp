#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "core/analyze/work/work_call.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/launched_in.h"
#include "core/diagnose/conditions/loops.h"
#include "core/diagnose/conditions/recorded_calls.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr std::size_t kLeastAdapters = 8;
constexpr double kMostRank = 256, kThin = 4;  // the rank, and how many times as wide the layer is
constexpr double kLeastAdapterShare = 0.05;   // of the window on the host, or of the GPU time
constexpr std::size_t kMostAround = 4;        // operators that scale the adapter's result and add it

// [out, in] of a linear layer's weight; none of other operators.
std::optional<Sizes> weight_of(const Facts& facts, SliceId op) {
  if (facts.trace.name(op) != "aten::linear") return std::nullopt;
  const auto call = recorded_call(facts, op);
  if (!call || call->sizes(1).size() != 2) return std::nullopt;
  return call->sizes(1);
}

bool is_scale_or_add(std::string_view op) {
  constexpr std::array<std::string_view, 6> kOps = {"aten::mul",  "aten::mul_", "aten::add",
                                                    "aten::add_", "aten::to",   "aten::dropout"};
  return std::find(kOps.begin(), kOps.end(), op) != kOps.end();
}

// A thin product down to the rank and one back up, of the size of the layer right before them; where the operators end that
// add it.
std::optional<std::size_t> end_of_adapter(const Facts& facts, const Operators& ops, std::size_t layer) {
  const auto whole = weight_of(facts, ops[layer]);
  if (!whole) return std::nullopt;
  std::vector<std::size_t> thin;
  std::size_t at = layer + 1;
  for (; at < ops.size() && thin.size() < 2; ++at) {
    if (weight_of(facts, ops[at]))
      thin.push_back(at);
    else if (!is_scale_or_add(facts.trace.name(ops[at])))
      return std::nullopt;
  }
  if (thin.size() < 2) return std::nullopt;
  const Sizes down = *weight_of(facts, ops[thin[0]]), up = *weight_of(facts, ops[thin[1]]);
  const double rank = down[0];
  if (up[1] != rank || up[0] != (*whole)[0] || down[1] != (*whole)[1]) return std::nullopt;
  if (rank > kMostRank || kThin * rank > std::min((*whole)[0], (*whole)[1])) return std::nullopt;
  for (std::size_t n = 0; n < kMostAround && at < ops.size() && is_scale_or_add(facts.trace.name(ops[at])); ++n) {
    const bool adds = facts.trace.name(ops[at]).starts_with("aten::add");
    ++at;
    if (adds) break;
  }
  return at - 1;
}

std::vector<Finding> check_adapters_not_merged(const Facts& facts) {
  if (!cpu_slices_called(facts, "autograd::engine::evaluate_function", kIsOp).empty()) return {};  // they are trained
  std::vector<FindingSpan> places;
  std::vector<SliceId> theirs;
  std::vector<Span> spans;
  for (const Operators& ops : operators_by_thread_and_step(facts))
    for (std::size_t i = 0; i + 2 < ops.size(); ++i)
      if (const auto end = end_of_adapter(facts, ops, i)) {
        const Span span{facts.trace.end(ops[i]), facts.trace.end(ops[*end])};
        places.push_back({facts.trace.lane_id(ops[i]), span, SliceId{}});
        spans.push_back(span);
        theirs.insert(theirs.end(), ops.begin() + static_cast<std::ptrdiff_t>(i + 1),
                      ops.begin() + static_cast<std::ptrdiff_t>(*end + 1));
        i = *end;
      }
  if (places.size() < kLeastAdapters) return {};
  Finding finding;
  finding.spared = span_set(std::move(spans));
  const Ns time = length(finding.spared);
  const LaunchedWork work = work_launched_in(facts, theirs);
  const double of_gpu = share_of(work.time, facts.gpu_sum);
  if (share_of(time, facts.window_length) < kLeastAdapterShare && of_gpu < kLeastAdapterShare) return {};
  finding.severity = Severity::costly;
  finding.cost = time;
  finding.summary = fmt::format("{} next to their layers launched {}: {} on the host, {} of the GPU time.",
                                sentence_start(counted(places.size(), "low-rank adapter")),
                                counted(work.slices.size(), "kernel"), format_duration(time), format_share(of_gpu));
  finding.evidence =
      Evidence({{"n", places.size()}, {"launches", work.slices.size()}, {"total_us", as_us(time)}, {"share", of_gpu}});
  mark_gaps(finding, std::move(places));
  return {std::move(finding)};
}

}  // namespace

extern const Rule adapters_not_merged = {
    .id = "adapters_not_merged",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsLaunches | kNeedsOperators | kNeedsShapes,
    .title = "Adapters are not merged into their layers",
    .meaning =
        "Each layer multiplies by its weights and then by the two thin matrices of its adapter (LoRA), scales and adds. "
        "Without "
        "a backward pass the weights can hold the adapter.",
    .remedy = "Merge the adapters into the weights once before inference: merge_and_unload() in PEFT, or W += scale * B @ A.",
    .check = check_adapters_not_merged,
    .claim = Claim{.time = ClaimedTime::idle, .turn = 46, .explains = {"overhead_bound", "host_gaps"}},
    .code = "model = model.merge_and_unload()",
    .gives = {Cure::gone, true},
};

}  // namespace gapscope
