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

struct Tables {
  double most_rows = 0, rows_an_index = 0;  // of the one with most rows: a table's rows for each index of a lookup
  double share = 1;                         // of the elements of all parameters; at most, where shapes do not say
};

// None without shapes. Each step looks up in each table, and adds to each parameter's gradient.
std::optional<Tables> recorded_tables(const Facts& facts) {
  Tables out;
  double elements = 0, parameters = 0;
  for (const std::string_view name : {std::string_view("aten::embedding"), std::string_view("aten::embedding_bag")})
    for (const SliceId s : cpu_slices_called(facts, name, kIsOp)) {
      if (facts.trace.name(s) != name) continue;
      const auto call = recorded_call(facts, s);
      if (!call || call->sizes(0).empty()) continue;
      const double rows = call->sizes(0).front(), indices = call->at(1).count();
      elements += call->at(0).count();
      if (rows <= out.most_rows || indices < 1) continue;
      out.most_rows = rows;
      out.rows_an_index = rows / indices;
    }
  if (out.most_rows == 0) return std::nullopt;
  for (const SliceId s : cpu_slices_called(facts, "torch::autograd::AccumulateGrad", kIsOp))
    if (const auto call = recorded_call(facts, s)) parameters += call->at(0).count();
  if (parameters > 0) out.share = std::min(1.0, elements / parameters);
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
  const std::optional<Tables> tables = recorded_tables(facts);
  const double of_optimizer = static_cast<double>(optimizer) * (tables ? tables->share : 1);
  const Ns of_tables = static_cast<Ns>(of_optimizer);
  const double share = share_of(of_tables, facts.gpu_sum);
  if (share < (tables ? kLeastOfOptimizer : kLeastWithoutShapes) || (tables && tables->rows_an_index < kLeastRowsAnIndex))
    return {};
  Finding finding;
  finding.severity = Severity::costly;
  finding.cost = sum_saturating(of_tables, gradients);
  finding.summary = fmt::format("{}: {} of the GPU time ({}). The gradients of the embeddings take {}.",
                                tables ? "The optimizer updates every row of the embeddings"
                                       : "The optimizer updates all parameters, with every row of the embeddings",
                                format_share(share), format_duration(of_tables), format_duration(gradients));
  if (tables)
    finding.summary += fmt::format(" The largest has {} rows for each index of a step.", format_times(tables->rows_an_index));
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
    .gives = {Cure::at_stake},
};

}  // namespace gapscope
