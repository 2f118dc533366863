#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "core/analyze/work/work_call.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/recorded_calls.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr std::string_view kDenseBackwards[] = {"aten::embedding_dense_backward", "aten::_embedding_bag_dense_backward"};
// Of the GPU time: what the optimizer does to all rows. Without shapes only that shows that the tables are large.
constexpr double kLeastOfOptimizer = 0.20, kLeastWithoutShapes = 0.50;
// Rows of a table for each index that is looked up.
constexpr double kLeastRowsAnIndex = 4;

// Rows of the largest table for each index of its lookups; none without shapes.
std::optional<double> rows_an_index(const Facts& facts) {
  std::optional<double> out;
  double most = 0;
  for (const std::string_view name : {std::string_view("aten::embedding"), std::string_view("aten::embedding_bag")})
    for (const SliceId s : cpu_slices_called(facts, name, kIsOp)) {
      if (facts.trace.name(s) != name) continue;
      const auto call = recorded_call(facts, s);
      if (!call || call->sizes(0).empty()) continue;
      const double rows = call->sizes(0).front(), indices = call->at(1).count();
      if (rows <= most || indices < 1) continue;
      most = rows;
      out = rows / indices;
    }
  return out;
}

std::vector<Finding> check_dense_embedding_gradients(const Facts& facts) {
  std::vector<SliceId> backward;
  for (const std::string_view name : kDenseBackwards)
    for (const SliceId s : cpu_slices_called(facts, name, kIsOp)) backward.push_back(s);
  if (backward.empty()) return {};
  std::vector<SliceId> work;
  Ns optimizer = 0, gradients = 0;
  for (const GpuOp& op : facts.ops) {
    if (!op.linked()) continue;
    const SliceId range = facts.ancestor(op.launch, kIsAnnotation);
    const bool updates = range && facts.trace.name(range).starts_with("Optimizer.step#");
    const auto of_backward = [&] {
      for (SliceId at = facts.ancestor(op.launch, kIsOp); at; at = facts.ancestor(at, kIsOp))
        if (std::binary_search(backward.begin(), backward.end(), at)) return true;
      return false;
    };
    if (!updates && !of_backward()) continue;
    add_saturating(updates ? optimizer : gradients, op.span.length());
    work.push_back(op.slice);
  }
  const std::optional<double> rows = rows_an_index(facts);
  const double share = share_of(optimizer, facts.gpu_sum);
  if (share < (rows ? kLeastOfOptimizer : kLeastWithoutShapes) || (rows && *rows < kLeastRowsAnIndex)) return {};
  Finding finding;
  finding.severity = Severity::costly;
  finding.cost = sum_saturating(optimizer, gradients);
  finding.summary =
      fmt::format("The optimizer updates every row of the embeddings: {} of the GPU time ({}). Their gradients take {}.",
                  format_share(share), format_duration(optimizer), format_duration(gradients));
  if (rows) finding.summary += fmt::format(" The largest has {} rows for each index of a step.", format_times(*rows));
  finding.evidence = Evidence({{"n", backward.size()}, {"share", share}, {"total_us", as_us(finding.cost)}});
  mark_slices(finding, facts.trace, work);
  return {std::move(finding)};
}

}  // namespace

extern const Rule dense_embedding_gradients = {
    .id = "dense_embedding_gradients",
    .rule_class = RuleClass::problem,
    .severity = Severity::costly,
    .needs = kNeedsOperators | kNeedsLaunches,
    .title = "Embeddings have dense gradients",
    .meaning =
        "A step looks up a few rows of an embedding, but its gradient has all rows. The optimizer therefore reads and writes "
        "the whole table and its own state in each step.",
    .remedy =
        "Give the embeddings sparse gradients: nn.Embedding(..., sparse=True) with torch.optim.SparseAdam or SGD for them. "
        "That updates only the rows of the batch. First merge many small tables into one.",
    .check = check_dense_embedding_gradients,
    .claim = Claim{.time = ClaimedTime::kernels, .turn = 251, .explains = {"optimizer_not_fused", "unfused_elementwise_chain"}},
    .code = "nn.Embedding(rows, width, sparse=True)",
    .gives = {Cure::work},
};

}  // namespace gapscope
