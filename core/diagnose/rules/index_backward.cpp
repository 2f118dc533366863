#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/analyze/work/work_call.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/backward_passes.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/launched_in.h"
#include "core/diagnose/conditions/recorded_calls.h"
#include "core/diagnose/rule.h"

namespace gapscope {

extern const Rule index_backward;

namespace {

constexpr double kLeastIndexShare = 0.10;  // of the GPU time
constexpr double kLeastRepeats = 4;        // of a row, where sizes are recorded

// "indexing_backward_kernel<float, 4>" and those for small rows: they add the rows of one index one after another.
bool is_index_backward(std::string_view kernel) { return kernel.find("indexing_backward_kernel") != kernel.npos; }

// How often a row of the table is read, of an aten::index by one tensor of integers.
std::optional<double> reads_of_a_row(const Facts& facts, SliceId forward, SliceId node) {
  const auto table = recorded_call(facts, forward);
  if (!table || table->sizes(0).size() < 2) return std::nullopt;
  for (const SliceId s : cpu_slices_called(facts, "aten::_index_put_impl_", kIsOp)) {
    if (!facts.trace.span_of(node).contains(facts.trace.begin(s))) continue;
    if (const auto call = recorded_call(facts, s)) return call->at(2).count() / elements(table->sizes(0));
  }
  return std::nullopt;
}

std::vector<Finding> check_index_backward(const Facts& facts) {
  std::set<SliceId> launching;  // operators with such a kernel, and all around them
  Ns adding = 0;
  for (const GpuOp& op : facts.ops)
    if (op.linked() && is_index_backward(facts.name(op))) {
      for (SliceId at = facts.ancestor(op.launch, kIsOp); at && launching.insert(at).second;) at = facts.ancestor(at, kIsOp);
      add_saturating(adding, op.span.length());
    }
  if (share_of(adding, facts.gpu_sum) < kLeastIndexShare) return {};
  std::vector<SliceId> nodes;
  std::set<std::int64_t> numbers;
  for (const BackwardPass& pass : backward_passes(facts))
    for (const BackwardNode& node : pass)
      if (facts.trace.name(node.slice).ends_with(" IndexBackward0") && launching.count(node.slice) > 0) {
        nodes.push_back(node.slice);
        numbers.insert(node.sequence);
      }
  if (nodes.empty()) return {};
  const std::vector<SliceId> forwards = forward_operators(facts, "aten::index", numbers);
  const LaunchedWork work = work_launched_in(facts, nodes);
  const double share = share_of(work.time, facts.gpu_sum);
  if (share < kLeastIndexShare) return {};
  const auto reads = forwards.empty() ? std::nullopt : reads_of_a_row(facts, forwards.front(), nodes.front());
  if (reads && *reads < kLeastRepeats) return {};
  Finding finding;
  finding.severity = Severity::costly;
  finding.cost = work.time;
  finding.summary = fmt::format("The backward pass of indexing ran {} and took {} of the GPU time ({}).", often(nodes.size()),
                                format_share(share), format_duration(work.time));
  if (reads) finding.summary += fmt::format(" Each row of the table was read {} times (mean).", format_times(*reads));
  finding.evidence = Evidence({{"n", nodes.size()}, {"total_us", as_us(work.time)}, {"share", share}});
  finding.where = code_place(facts, index_backward, forwards);
  mark_slices(finding, facts.trace, work.slices);
  return {std::move(finding)};
}

}  // namespace

extern const Rule index_backward = {
    .id = "index_backward",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsOperators | kNeedsLaunches,
    .title = "Gradients of table[index] are added one after another",
    .meaning =
        "The backward pass of table[index] sorts the index and adds the gradients of equal entries one after another. With "
        "few rows and many entries that takes long.",
    .remedy =
        "Look the rows up with index_select, whose backward pass adds the gradients without sorting. Its sums have no fixed "
        "order, so results may differ in the last digits.",
    .check = check_index_backward,
    .claim = Claim{.time = ClaimedTime::kernels, .turn = 259, .explains = {"single_large_kernel", "memory_bound_kernels"}},
    .code = "rows = table.index_select(0, index.flatten()).view(*index.shape, -1)",
    .gives = {Cure::work},
};

}  // namespace gapscope
