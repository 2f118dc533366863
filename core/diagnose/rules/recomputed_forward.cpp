#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/launched_in.h"
#include "core/diagnose/rule.h"

namespace gapscope {

extern const Rule recomputed_forward;

namespace {

// Of the GPU time or of the window.
constexpr double kLeastRecomputedShare = 0.02;
constexpr std::string_view kBackwardNode = "autograd::engine::evaluate_function";

// Layers as a forward pass calls them; backward passes have operators of their own (native_layer_norm_backward, mm).
bool is_forward_layer(std::string_view op) {
  constexpr std::array<std::string_view, 20> kOps = {"aten::linear",
                                                     "aten::layer_norm",
                                                     "aten::group_norm",
                                                     "aten::batch_norm",
                                                     "aten::instance_norm",
                                                     "aten::rms_norm",
                                                     "aten::conv1d",
                                                     "aten::conv2d",
                                                     "aten::conv3d",
                                                     "aten::gelu",
                                                     "aten::silu",
                                                     "aten::relu",
                                                     "aten::leaky_relu",
                                                     "aten::embedding",
                                                     "aten::dropout",
                                                     "aten::max_pool2d",
                                                     "aten::scaled_dot_product_attention",
                                                     "aten::softmax",
                                                     "aten::lstm",
                                                     "aten::gru"};
  return std::find(kOps.begin(), kOps.end(), op) != kOps.end();
}

// The outermost node of the backward pass around it.
SliceId node_around(const Facts& facts, SliceId op) {
  SliceId node;
  for (SliceId at = facts.parent(op); at; at = facts.parent(at))
    if (facts.trace.name(at).starts_with(kBackwardNode)) node = at;
  return node;
}

std::vector<Finding> check_recomputed_forward(const Facts& facts) {
  std::map<SliceId, Span> parts;  // by node
  for (const StringId name : facts.names_matching(is_forward_layer))
    for (const SliceId s : facts.names.slices_named(name)) {
      if ((facts.own(s) & kIsOp) == 0 || (facts.above(s) & kIsCompileFrame) != 0) continue;
      const SliceId node = node_around(facts, s);
      if (!node) continue;
      // From the node's begin: before it runs a part, checkpointing restores the state of random numbers.
      Span& part = parts.try_emplace(node, Span{facts.trace.begin(node), facts.trace.begin(node)}).first->second;
      part.end = std::max(part.end, facts.trace.end(s));
    }
  if (parts.empty()) return {};
  std::vector<FindingSpan> places;
  for (const auto& [node, part] : parts) places.push_back({facts.trace.lane_id(node), part, SliceId{}});
  Finding finding;
  const SparedTime time = mark_spared(facts, finding, std::move(places));
  if (time.share < kLeastRecomputedShare) return {};
  const bool is_seen =
      !facts.names_matching([](std::string_view name) { return name.starts_with("torch/utils/checkpoint.py("); }).empty();
  finding.severity = Severity::costly;
  finding.summary = fmt::format("The backward pass ran forward layers again {}{}. This takes {}.", often(parts.size()),
                                is_seen ? " (torch/utils/checkpoint.py)" : "", time.words());
  finding.evidence = time.evidence({{"n", parts.size()}});
  if (is_seen) finding.where = place_of_callers(facts, recomputed_forward, "torch/utils/checkpoint.py", "checkpoint");
  return {std::move(finding)};
}

}  // namespace

extern const Rule recomputed_forward = {
    .id = "recomputed_forward",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsOperators | kNeedsGpuWork,
    .title = "Activation checkpointing runs layers twice",
    .meaning =
        "Activation checkpointing saves memory but costs time: each checkpointed part runs forward again in the backward pass.",
    .remedy =
        "Use less checkpointing if memory allows. Look at the peak in the tab Memory, then checkpoint only some of the layers, "
        "or none (gradient_checkpointing_disable() in Transformers).",
    .check = check_recomputed_forward,
    .claim = Claim{.time = ClaimedTime::work, .turn = 22},
    .gives = {Cure::gone, true},
};

}  // namespace gapscope
