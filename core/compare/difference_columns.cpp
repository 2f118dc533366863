#include "core/compare/difference_columns.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include <nlohmann/json.hpp>

#include "core/base/text.h"
#include "core/base/time.h"

namespace gapscope {
namespace {

constexpr std::size_t kMostIndent = 24;

struct Compared {
  const Comparison& comparison;
  bool indented = false;
};

template <auto A, auto B, class Context, class Row>
CellValue change(const Context&, const Row& row) {
  return row.*B - row.*A;
}
template <auto Member, class Context, class Row>
CellValue named(const Context&, const Row& row) {
  return (row.*Member).empty() ? CellValue() : CellValue(std::string_view(row.*Member));
}
template <class Context, class Row>
CellValue names(const Context&, const Row& row) {
  return both_names(row.name_a, row.name_b);
}

CellText class_cell(const Compared&, const KernelChange& k) {
  return {std::string(kernel_change_name(k.change)), std::string(explain(k.change)), 0, k.change == KernelChangeClass::same};
}
CellText kernel_cell(const Compared&, const KernelChange& k) {
  std::string hover = std::string(explain(k.change));
  if (!k.detail.empty()) hover += "\n" + printable(k.detail);
  if (k.other_grid) hover += "\nLaunched with another grid: the amount of work differs.";
  if (!k.name_a.empty()) hover += "\nA: " + printable(k.name_a);
  if (!k.name_b.empty()) hover += "\nB: " + printable(k.name_b);
  for (std::size_t i = 0; i < k.operators.size(); ++i) hover += (i == 0 ? "\nby " : ", ") + printable(k.operators[i]);
  return {printable(both_names(short_kernel_name(k.name_a), short_kernel_name(k.name_b))), std::move(hover)};
}
void launched_by(const Compared&, const KernelChange& k, nlohmann::ordered_json& out) { out = k.operators; }

std::string path_of(const Compared& of, const OperatorNode& n) {
  return operator_path(of.comparison, static_cast<std::size_t>(&n - of.comparison.operators.data()));
}
CellText operator_cell(const Compared& of, const OperatorNode& n) {
  std::string name;
  if (of.indented) name.assign(2 * std::min<std::size_t>(kMostIndent, n.depth > 0 ? n.depth - 1 : 0), ' ');
  if (n.state == NodeState::only_a) name += "only A  ";
  if (n.state == NodeState::only_b) name += "only B  ";
  return {name + printable(both_names(n.name_a, n.name_b)), printable(path_of(of, n)), 0, n.state != NodeState::matched};
}

struct Chosen {};  // a step against the median one
template <auto Time, auto Count>
CellText times_cell(const Chosen&, const StepDifference& row) {
  const std::string times = row.*Count > 0 ? "\n" + format_count(static_cast<std::int64_t>(row.*Count)) + "x" : "";
  return {format_duration(row.*Time), format_duration_exact(row.*Time) + times, 0, row.*Time == 0};
}

using enum Quantity;
constexpr std::uint8_t kShown = kInGrid | kInCsv, kSaved = kInCsv | kInJson;
constexpr const char* kLess =
    "Below zero: B takes less. Sorted by the size of the change; a click sorts by the largest decrease, the next click by "
    "the largest increase.";
constexpr const char* kAll = "All of them together.";
constexpr const char* kCalled = "CPU time of the call, all that it called included.";
constexpr const char* kBelow = "GPU work launched below it.";

using Kernel = ColumnOf<KernelChange, Compared>;
constexpr Kernel kKernels[] = {
    Kernel(
        "change", "Change", "What happened to the kernel.", text,
        [](const Compared&, const KernelChange& k) -> CellValue { return kernel_change_name(k.change); },
        {.key = "class", .csv = "change", .chars = 10, .unfiltered = true}, class_cell),
    Kernel("name", "Kernel", "Its name; where the two traces differ, A's and then B's.", text, names,
           {.in = kInGrid, .chars = 0}, kernel_cell),
    Kernel("name_a", "Kernel in A", "Its name there.", text, named<&KernelChange::name_a>, {.in = kSaved}),
    Kernel("name_b", "Kernel in B", "Its name there.", text, named<&KernelChange::name_b>, {.in = kSaved}),
    Kernel("detail", "Detail", "Other differences of the names.", text, &field<&KernelChange::detail>, {.in = kInJson}),
    Kernel("count_a", "A count", "How often A runs it in what is compared.", count, &field<&KernelChange::count_a>),
    Kernel("count_b", "B count", "How often B runs it in what is compared.", count, &field<&KernelChange::count_b>),
    Kernel("time_a", "A time", kAll, ns, &field<&KernelChange::ns_a>, {.key = "ns_a"}),
    Kernel("time_b", "B time", kAll, ns, &field<&KernelChange::ns_b>, {.key = "ns_b"}),
    Kernel("delta", "B - A", kLess, ns, change<&KernelChange::ns_a, &KernelChange::ns_b>,
           {.in = kShown, .chars = 11, .sorted = true, .difference = true}),
    Kernel(
        "operators", "Operators", "What launches it.", text,
        [](const Compared&, const KernelChange&) -> CellValue { return {}; }, {.in = kInJson}, nullptr, launched_by),
    Kernel("other_grid", "Other grid", "The amount of work differs.", flag, &field<&KernelChange::other_grid>, {.in = kInJson}),
};

using Node = ColumnOf<OperatorNode, Compared>;
constexpr Node kOperators[] = {
    Node("name", "Operator",
         "What both called in what is compared; where they differ, A's and then B's. What it called in turn is counted in.",
         text, names, {.in = kInGrid}, operator_cell),
    Node("path", "Path", "The names from the outermost to it.", text,
         [](const Compared& of, const OperatorNode& n) -> CellValue { return path_of(of, n); }, {.in = kSaved}),
    Node("depth", "Depth", "How far below the outermost.", count, &field<&OperatorNode::depth>, {.in = kInJson}),
    Node("state", "State", "Which of the two have it.", text,
         [](const Compared&, const OperatorNode& n) -> CellValue { return node_state_name(n.state); }, {.in = kSaved}),
    Node("replaced", "Replaced", "By compiled code in one of the two.", flag, &field<&OperatorNode::replaced>, {.in = kInJson}),
    Node("cpu_a", "A CPU", kCalled, ns, &field<&OperatorNode::cpu_a>, {.key = "cpu_ns_a"}),
    Node("cpu_b", "B CPU", kCalled, ns, &field<&OperatorNode::cpu_b>, {.key = "cpu_ns_b"}),
    Node("cpu_delta", "CPU B - A", kLess, ns, change<&OperatorNode::cpu_a, &OperatorNode::cpu_b>,
         {.in = kShown, .chars = 11, .sorted = true, .difference = true}),
    Node("gpu_a", "A GPU", kBelow, ns, &field<&OperatorNode::gpu_a>, {.key = "gpu_ns_a"}),
    Node("gpu_b", "B GPU", kBelow, ns, &field<&OperatorNode::gpu_b>, {.key = "gpu_ns_b"}),
    Node("gpu_delta", "GPU B - A", kLess, ns, change<&OperatorNode::gpu_a, &OperatorNode::gpu_b>,
         {.in = kShown, .chars = 11, .difference = true}),
    Node("kernels_a", "A kernels", kBelow, count, &field<&OperatorNode::kernels_a>, {.in = kInJson}),
    Node("kernels_b", "B kernels", kBelow, count, &field<&OperatorNode::kernels_b>, {.in = kInJson}),
    Node("launches_a", "A launches", "Calls below it that started some.", count, &field<&OperatorNode::launches_a>,
         {.in = kInJson}),
    Node("launches_b", "B launches", "Calls below it that started some.", count, &field<&OperatorNode::launches_b>,
         {.in = kInJson}),
};

using Difference = ColumnOf<StepDifference, Chosen>;
constexpr Difference kDifferences[] = {
    Difference("what", "What",
               "Idle time of the busiest GPU by its cause, GPU work by name, operators and calls by name (self time).", text,
               [](const Chosen&, const StepDifference& d) -> CellValue { return difference_of_name(d.of); },
               {.in = kShown, .chars = 8, .quiet = true}),
    Difference("name", "Name", "In the order of how much it changed.", text, &field<&StepDifference::name>,
               {.in = kShown, .chars = 0},
               [](const Chosen&, const StepDifference& d) -> CellText {
                 return {printable(short_kernel_name(d.name)), printable(d.name)};
               }),
    Difference("change", "Change", "The difference to the median step.", ns,
               change<&StepDifference::median, &StepDifference::step>, {.in = kShown, .difference = true}),
    Difference("median", "Median", "In the median step.", ns, &field<&StepDifference::median>, {.in = kShown, .spare = 2},
               times_cell<&StepDifference::median, &StepDifference::count_median>),
    Difference("step", "This step", "In the chosen one.", ns, &field<&StepDifference::step>, {.in = kShown, .spare = 1},
               times_cell<&StepDifference::step, &StepDifference::count_step>),
    Difference("median_count", "Median count", "How often in the median step.", count, &field<&StepDifference::count_median>,
               {.in = kInCsv}),
    Difference("step_count", "Count", "How often in the chosen one.", count, &field<&StepDifference::count_step>,
               {.in = kInCsv}),
};

template <class Row, class Context, std::size_t N>
std::unique_ptr<TableRows> rows_of_comparison(const ColumnOf<Row, Context> (&columns)[N], const Context& context,
                                              std::span<const Row> rows) {
  return std::make_unique<ListRows<Row, Context>>(table_of(columns, context, rows));
}

}  // namespace

std::unique_ptr<TableRows> kernel_change_rows(const Comparison& comparison) {
  return rows_of_comparison(kKernels, {comparison}, std::span(comparison.kernels));
}

std::unique_ptr<TableRows> operator_rows(const Comparison& comparison, bool indented) {
  return rows_of_comparison(kOperators, {comparison, indented}, std::span(comparison.operators));
}

std::unique_ptr<TableRows> step_difference_rows(std::span<const StepDifference> rows) {
  return rows_of_comparison(kDifferences, {}, rows);
}

}  // namespace gapscope
