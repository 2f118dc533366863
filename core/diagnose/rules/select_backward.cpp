#include <set>
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

extern const Rule select_backward;

namespace {

constexpr double kLeastOfSelects = 0.10;  // of the GPU time
constexpr std::size_t kLeastSelects = 8;  // in a backward pass

bool is_of_selects(std::string_view node) { return node.ends_with(" SelectBackward0") || node.ends_with(" SliceBackward0"); }

std::vector<Finding> check_select_backward(const Facts& facts) {
  if (facts.compiling()) return {};
  std::vector<SliceId> nodes;
  std::set<std::int64_t> numbers;
  for (const BackwardPass& pass : backward_passes(facts)) {
    const std::size_t before = nodes.size();
    for (const BackwardNode& node : pass)
      if (is_of_selects(facts.trace.name(node.slice))) nodes.push_back(node.slice), numbers.insert(node.sequence);
    if (nodes.size() < before + kLeastSelects) nodes.resize(before);
  }
  if (nodes.empty()) return {};
  Finding finding;
  std::vector<FindingSpan> places;
  for (const SliceId node : nodes) places.push_back(span_of_slice(facts.trace, node));
  const SparedTime time = mark_spared(facts, finding, std::move(places));
  if (time.gpu_share < kLeastOfSelects) return {};
  finding.severity = Severity::costly;
  finding.summary = fmt::format(
      "The backward pass of x[:, i] or a slice ran {} and took {} of the GPU time ({}). Each time it fills a tensor of the "
      "size of x with zeros and adds it to the others.",
      often(nodes.size()), format_share(time.gpu_share), format_duration(time.gpu));
  finding.evidence = time.evidence({{"n", nodes.size()}});
  std::vector<SliceId> forwards = forward_operators(facts, "aten::select", numbers);
  const std::vector<SliceId> slices = forward_operators(facts, "aten::slice", numbers);
  forwards.insert(forwards.end(), slices.begin(), slices.end());
  finding.where = code_place(facts, select_backward, forwards);
  return {std::move(finding)};
}

}  // namespace

extern const Rule select_backward = {
    .id = "select_backward",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsOperators | kNeedsLaunches,
    .title = "Each x[:, i] has a gradient of the size of x",
    .meaning =
        "A loop takes one row, column or slice of a tensor at a time. In the backward pass each of them writes zeros for all "
        "of the tensor and adds them to the gradient.",
    .remedy =
        "Compute all rows in one call (x @ x.transpose(1, 2), torch.bmm), or take them apart once before the loop: "
        "x.unbind(dim) or x.split(size, dim), whose backward pass is one torch.stack or torch.cat.",
    .check = check_select_backward,
    .claim = Claim{.time = ClaimedTime::work,
                   .turn = 265,
                   .explains = {"unfused_elementwise_chain", "many_small_kernels", "memory_bound_kernels"}},
    .code = "rows = x.unbind(1)  # once, before the loop",
    .gives = {Cure::gone},
};

}  // namespace gapscope
