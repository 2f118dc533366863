#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/conditions/backward_passes.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/launched_in.h"
#include "core/diagnose/conditions/recorded_calls.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr double kLeastUnusedShare = 0.05;  // of the window on the host, or of the GPU time
constexpr double kLeastUnused = 0.5;        // of the gradients
constexpr std::size_t kLeastGradients = 8;

// What an optimizer's step launches.
struct Updates {
  std::map<SliceId, std::uint64_t> blocks;  // by operator of lists
  std::map<StringId, std::size_t> calls;    // by name, of other operators
  bool is_hidden = false;                   // compiled, or without an operator

  // At most as many tensors: an operator of lists launches at least one block for each, others are called once for each. 0
  // where that is not seen.
  std::size_t most() const {
    std::size_t out = 0;
    for (const auto& [op, n] : blocks) out = std::max<std::size_t>(out, n);
    for (const auto& [name, n] : calls) out = std::max(out, n);
    return is_hidden ? 0 : out;
  }
};

// By the range of each.
std::map<SliceId, Updates> updates_of(const Facts& facts) {
  std::map<SliceId, Updates> out;
  for (const SliceId s : cpu_slices_called(facts, "Optimizer.step#", kIsAnnotation)) out[s];
  for (const GpuOp& op : facts.ops) {
    if (!op.linked()) continue;
    SliceId range = facts.ancestor(op.launch, kIsAnnotation);
    while (range && out.count(range) == 0) range = facts.ancestor(range, kIsAnnotation);
    if (!range) continue;
    Updates& updates = out[range];
    const SliceId outer = facts.ancestor(op.launch, kIsAten);
    updates.is_hidden |= !outer || (facts.above(op.launch) & (kIsRegion | kIsCompiledGraph)) != 0;
    if (!outer) continue;
    const std::string_view name = facts.trace.name(outer);
    if (name.starts_with("aten::_foreach_") || name.starts_with("aten::_fused_"))
      updates.blocks[outer] += facts.row(op).grid[0];
    else
      ++updates.calls[facts.trace.name_id(outer)];
  }
  return out;
}

std::vector<Finding> check_unused_gradients(const Facts& facts) {
  if (facts.compiling() || facts.steps.empty()) return {};
  const auto communicates = [](const GpuOp& op) { return op.gpu_class == GpuClass::communication; };
  if (std::any_of(facts.ops.begin(), facts.ops.end(), communicates)) return {};
  std::vector<std::size_t> updated(facts.step_count());
  for (const auto& [s, updates] : updates_of(facts)) {
    const std::size_t most = updates.most();
    if (most == 0 || facts.trace.name(s).find("LBFGS") != std::string_view::npos) return {};
    if (const auto step = facts.step_at(facts.trace.begin(s))) updated[*step] += most;
  }
  std::vector<FindingSpan> places;
  std::size_t gradients = 0, used = 0;
  for (const BackwardPass& pass : backward_passes(facts)) {
    const auto step = facts.step_at(facts.trace.begin(pass.front().slice));
    const auto all =
        static_cast<std::size_t>(std::count_if(pass.begin(), pass.end(), [](const BackwardNode& n) { return n.is_parameter; }));
    if (!step || updated[*step] == 0 || all < kLeastGradients ||
        static_cast<double>(updated[*step]) > (1 - kLeastUnused) * static_cast<double>(all))
      continue;
    // Not needed at most: what is behind as many gradients as are used.
    std::size_t left = updated[*step];
    const auto rest =
        std::find_if(pass.begin(), pass.end(), [&](const BackwardNode& n) { return n.is_parameter && left-- == 0; });
    if (rest == pass.end()) continue;
    places.push_back(
        {facts.trace.lane_id(rest->slice), {facts.trace.begin(rest->slice), facts.trace.end(pass.back().slice)}, SliceId{}});
    if (all > gradients) gradients = all, used = updated[*step];
  }
  if (places.empty()) return {};
  Finding finding;
  const SparedTime time = mark_spared(facts, finding, std::move(places));
  if (time.share < kLeastUnusedShare) return {};
  finding.severity = Severity::costly;
  finding.summary = fmt::format(
      "A backward pass computes gradients of {}, but the optimizer updates at most {} tensors. Computing that many unused "
      "gradients takes {}.",
      counted(gradients, "parameter"), shown_count(used), time.words());
  finding.evidence = time.evidence({{"n", gradients}, {"used", used}});
  return {std::move(finding)};
}

}  // namespace

extern const Rule unused_gradients = {
    .id = "unused_gradients",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsOperators | kNeedsGpuWork | kNeedsSteps,
    .title = "Gradients are computed that no optimizer uses",
    .meaning =
        "Most parameters that get a gradient are not in the optimizer, for example because only the last layers are trained. "
        "Computing their gradients is wasted time.",
    .remedy =
        "Call requires_grad_(False) on the part of the model that is not trained. If it comes first, run it under "
        "torch.no_grad(). Also check that the optimizer has all parameters that you want to train.",
    .check = check_unused_gradients,
    .claim = Claim{.time = ClaimedTime::work, .turn = 25, .explains = {"many_small_kernels", "overhead_bound", "host_gaps"}},
    .evidence_names = {{{"n", "gradients of a pass"}, {"used", "tensors updated at most"}}},
    .code = "backbone.requires_grad_(False)",
    .gives = {Cure::gone},
};

}  // namespace gapscope
