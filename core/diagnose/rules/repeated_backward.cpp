#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/conditions/backward_passes.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/launched_in.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr double kLeastRepeatedShare = 0.05;  // of the window on the host, or of the GPU time

// With create_graph=True a backward pass is differentiated again, which needs the same functions twice: the operators in it
// have numbers then.
bool is_differentiated(const Facts& facts) {
  return std::any_of(facts.trace.ops.begin(), facts.trace.ops.end(), [&](const OpRow& row) {
    if (row.sequence < 0 || (facts.own(row.slice) & kIsAten) == 0) return false;
    const SliceId outer = facts.outermost(row.slice, kIsOp);
    return outer && facts.trace.name(outer).starts_with("autograd::engine::evaluate_function");
  });
}

std::vector<Finding> check_repeated_backward(const Facts& facts) {
  if (facts.compiling()) return {};
  // Each thread of the program has numbers of its own, so the same function is the same by name and on autograd's same thread.
  std::set<std::tuple<std::size_t, std::int64_t, StringId>> seen;
  const auto key = [&](const BackwardNode& node) {
    return std::tuple(facts.trace.lane_id(node.slice).index(), node.sequence, facts.trace.name_id(node.slice));
  };
  std::vector<FindingSpan> places;
  bool to_parameters = false;
  std::size_t nodes = 0;
  for (const BackwardPass& pass : backward_passes(facts)) {
    const auto again =
        std::find_if(pass.begin(), pass.end(), [&](const BackwardNode& node) { return seen.count(key(node)) > 0; });
    for (const BackwardNode& node : pass)
      if (node.sequence >= 0) seen.insert(key(node));
    if (again == pass.end()) continue;
    // What comes to a repeated function after it is repeated, too: the pass goes from the loss to the parameters.
    const Span span{facts.trace.begin(again->slice), facts.trace.end(pass.back().slice)};
    places.push_back({facts.trace.lane_id(again->slice), span, SliceId{}});
    nodes += static_cast<std::size_t>(std::distance(again, pass.end()));
    to_parameters |= std::any_of(again, pass.end(), [](const BackwardNode& node) { return node.is_parameter; });
  }
  if (places.empty() || is_differentiated(facts)) return {};
  const std::size_t times = places.size();
  Finding finding;
  const SparedTime time = mark_spared(facts, finding, std::move(places));
  if (time.share < kLeastRepeatedShare) return {};
  finding.severity = Severity::costly;
  finding.summary = fmt::format(
      "{} a backward pass ran through functions that another pass had been through already ({} of them in total). This takes "
      "{} of the GPU time ({}) and {} on the host.",
      sentence_start(often(times)), shown_count(nodes), format_share(time.gpu_share), format_duration(time.gpu),
      format_duration(time.host));
  finding.evidence =
      Evidence({{"n", times}, {"gpu_us", as_us(time.gpu)}, {"share", time.gpu_share}, {"host_us", as_us(time.host)}});
  if (!to_parameters) {  // torch.autograd.grad() for one output after the other
    finding.advice = advice_of(
        "Take the gradients of all outputs in one call: torch.autograd.grad(..., is_grads_batched=True), or "
        "torch.func.jacrev().");
    finding.code = "torch.autograd.grad(y, x, grad_outputs=vectors, is_grads_batched=True)";
    finding.gives = Gives{Cure::gone};
  }
  return {std::move(finding)};
}

}  // namespace

extern const Rule repeated_backward = {
    .id = "repeated_backward",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsOperators | kNeedsGpuWork,
    .title = "Several backward passes run through the same layers",
    .meaning =
        "Each loss has a backward pass of its own (retain_graph=True), and each pass computes the gradients of the shared "
        "layers again. Gradients add up, so one pass of the sum gives the same.",
    .remedy =
        "Add the losses and call backward() once. Keep several passes only where the program needs the gradients of each loss "
        "by themselves.",
    .check = check_repeated_backward,
    .claim = Claim{.time = ClaimedTime::work, .turn = 24, .explains = {"many_small_kernels", "overhead_bound", "host_gaps"}},
    .code = "sum(losses).backward()",
    .gives = {Cure::gone, true},
};

}  // namespace gapscope
