#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/conditions/backward_passes.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/launched_in.h"
#include "core/diagnose/rule.h"

namespace gapscope {

extern const Rule repeated_backward;

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

// torch.autograd.grad() of the same outputs, for one input after another: passes through just the same functions.
std::vector<FindingSpan> passes_again(const Facts& facts, const std::vector<BackwardPass>& passes) {
  std::set<std::vector<std::tuple<std::size_t, std::int64_t, StringId>>> seen;
  std::vector<FindingSpan> out;
  for (const BackwardPass& pass : passes) {
    std::vector<std::tuple<std::size_t, std::int64_t, StringId>> nodes;
    for (const BackwardNode& node : pass)
      nodes.emplace_back(facts.trace.lane_id(node.slice).index(), node.sequence, facts.trace.name_id(node.slice));
    if (pass.size() >= 2 && pass.front().sequence >= 0 && !seen.insert(std::move(nodes)).second)
      out.push_back({facts.trace.lane_id(pass.front().slice),
                     {facts.trace.begin(pass.front().slice), facts.trace.end(pass.back().slice)},
                     SliceId{}});
  }
  return out;
}

// The functions that those passes made, where the loss is differentiated.
void add_what_they_made(const Facts& facts, const std::vector<BackwardPass>& passes, std::vector<FindingSpan>& places) {
  std::vector<Span> spans;
  for (const FindingSpan& place : places) spans.push_back(place.span);
  const SpanSet inside = span_set(std::move(spans));
  std::set<std::int64_t> made;
  for (const OpRow& row : facts.trace.ops)
    if (row.sequence >= 0 && (facts.own(row.slice) & kIsAten) != 0 && contains(inside, facts.trace.begin(row.slice)))
      made.insert(row.sequence);
  for (const BackwardPass& pass : passes)
    for (const BackwardNode& node : pass)
      if (node.sequence >= 0 && made.count(node.sequence) > 0 && !contains(inside, facts.trace.begin(node.slice)))
        places.push_back(span_of_slice(facts.trace, node.slice));
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
  const std::vector<BackwardPass> passes = backward_passes(facts);
  for (const BackwardPass& pass : passes) {
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
  if (places.empty()) return {};
  const bool differentiated = is_differentiated(facts);
  if (differentiated) places = passes_again(facts, passes);
  if (places.empty()) return {};
  const std::size_t times = places.size();
  Finding finding;
  if (differentiated) {
    Finding where;
    where.rule = &repeated_backward;
    mark_gaps(where, places);
    finding.where = code_place(facts, where);
    add_what_they_made(facts, passes, places);
  }
  const SparedTime time = mark_spared(facts, finding, std::move(places));
  if (time.share < kLeastRepeatedShare) return {};
  finding.severity = Severity::costly;
  finding.summary = fmt::format(
      "{} a backward pass ran through {}. {} {}.", sentence_start(often(times)),
      differentiated ? std::string("exactly the functions of another pass")
                     : fmt::format("functions that another pass had already run ({} of them in total)", shown_count(nodes)),
      differentiated ? "Including what the loss's backward pass does for them, this takes" : "This takes", time.words());
  finding.evidence = time.evidence({{"n", times}});
  if (differentiated) {
    finding.advice = advice_of(
        "Take the gradients of one output for all inputs in one call: torch.autograd.grad(u, (x, y, t)) runs through the "
        "functions once.");
    finding.code = "u_x, u_y, u_t = torch.autograd.grad(u, (x, y, t), torch.ones_like(u), create_graph=True)";
    finding.gives = Gives{Cure::gone};
  } else if (!to_parameters) {  // torch.autograd.grad() for one output after the other
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
