#include "core/view/compare/compare_model.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "core/base/table/csv.h"
#include "core/base/text.h"
#include "core/diagnose/device_time.h"

namespace gapscope {
namespace {

constexpr std::string_view kStepPrefix = "ProfilerStep#";
constexpr double kWholeScale = 2;  // twice as long takes all of the scale

// Each first member once: the first pair of it stays.
template <class Pairs>
void sort_and_thin(Pairs& pairs) {
  std::stable_sort(pairs.begin(), pairs.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
  pairs.erase(std::unique(pairs.begin(), pairs.end(), [](const auto& x, const auto& y) { return x.first == y.first; }),
              pairs.end());
}

}  // namespace

std::vector<NamedFinding> named_findings(const Diagnosis& diagnosis, std::size_t steps) {
  std::vector<NamedFinding> named;
  for (const RankedFinding& ranked : diagnosis.findings) {
    const Rule& rule = *ranked.finding.rule;
    const Ns cost = ranked.finding.cost;
    const bool problem = rule.rule_class == RuleClass::problem || rule.rule_class == RuleClass::problem_locator;
    // What costs nothing here is no problem of this run, whatever its rule usually is.
    named.push_back({std::string(rule.id), std::string(rule.title), problem && cost > 0,
                     cost / static_cast<Ns>(std::max<std::size_t>(1, steps)), claim_of(rule).time == ClaimedTime::idle});
  }
  return named;
}

namespace {

ComparedTrace compared(const Document& document) {
  ComparedTrace side{document.trace, document.lanes, document.links, {}, nullptr};
  if (document.analysis()) side.work = &document.analysis()->work();
  if (document.diagnosis() && document.analysis())
    side.diagnosed = named_findings(*document.diagnosis(), document.analysis()->account().steps().size());
  return side;
}

Span step_span(const Trace& trace, SliceId slice) { return slice ? trace.span_of(slice) : trace.span; }

std::vector<std::int64_t> step_numbers(const Document& document) {
  std::vector<std::int64_t> numbers;
  if (!document.analysis()) return numbers;
  for (const Step& step : document.analysis()->steps().steps) {
    const std::string_view name = step.name;
    std::int64_t number = 0;
    if (!name.starts_with(kStepPrefix)) continue;
    const char* end = name.data() + name.size();
    if (std::from_chars(name.data() + kStepPrefix.size(), end, number).ptr == end) numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

bool passes(const std::string& filter, const std::string& a, const std::string& b) {
  return filter.empty() || contains_ignore_case(a, filter) || contains_ignore_case(b, filter);
}

bool passes(const CompareState& state, const Comparison& c, std::uint32_t row) {
  if (state.table == CompareTable::kernels) return passes(state.filter, c.kernels[row].name_a, c.kernels[row].name_b);
  return row > 0 && passes(state.filter, c.operators[row].name_a, c.operators[row].name_b);  // [0] is the step itself
}

bool is_difference(const RowOrder& order, CompareTable table) {
  if (table == CompareTable::kernels) return order.column == static_cast<std::size_t>(ChangeColumn::delta);
  return order.column == static_cast<std::size_t>(NodeColumn::cpu_delta) ||
         order.column == static_cast<std::size_t>(NodeColumn::gpu_delta);
}

std::int64_t value_of(const Comparison& c, CompareTable table, std::uint32_t row, std::size_t column) {
  return table == CompareTable::kernels ? column_value(c.kernels[row], static_cast<ChangeColumn>(column))
                                        : column_value(c.operators[row], static_cast<NodeColumn>(column));
}

std::string name_of(const Comparison& c, CompareTable table, std::uint32_t row) {
  return table == CompareTable::kernels ? both_names(c.kernels[row].name_a, c.kernels[row].name_b)
                                        : both_names(c.operators[row].name_a, c.operators[row].name_b);
}

void sort_rows(const Comparison& c, CompareTable table, const RowOrder& order, std::vector<std::uint32_t>& rows) {
  const std::size_t names = static_cast<std::size_t>(table == CompareTable::kernels ? static_cast<int>(ChangeColumn::name)
                                                                                    : static_cast<int>(NodeColumn::name));
  if (order.column == names) {
    std::vector<std::string> keys(table == CompareTable::kernels ? c.kernels.size() : c.operators.size());
    for (const std::uint32_t row : rows) keys[row] = name_of(c, table, row);
    std::stable_sort(rows.begin(), rows.end(),
                     [&](auto x, auto y) { return order.descending ? keys[y] < keys[x] : keys[x] < keys[y]; });
    return;
  }
  const bool most = is_difference(order, table);
  const auto key = [&](std::uint32_t row) {
    const std::int64_t value = value_of(c, table, row, order.column);
    return most ? std::abs(value) : value;
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](auto x, auto y) { return order.descending ? key(y) < key(x) : key(x) < key(y); });
}

std::string number_cell(std::int64_t value) { return ',' + std::to_string(value); }

}  // namespace

SliceMatches::SliceMatches(const Comparison& comparison) {
  for (const OperatorNode& node : comparison.operators) {
    if (node.slice_a && node.slice_b) from_a_.push_back({node.slice_a, node.slice_b});
  }
  for (const KernelChange& change : comparison.kernels) {
    if (change.example_a && change.example_b) from_a_.push_back({change.example_a, change.example_b});
  }
  for (const Pair& pair : from_a_) from_b_.push_back({pair.second, pair.first});
  sort_and_thin(from_a_);
  sort_and_thin(from_b_);
}

SliceId SliceMatches::of(TraceSide side, SliceId slice) const {
  const std::vector<Pair>& pairs = side == TraceSide::a ? from_a_ : from_b_;
  const auto at = std::lower_bound(pairs.begin(), pairs.end(), slice, [](const Pair& p, SliceId s) { return p.first < s; });
  return slice && at != pairs.end() && at->first == slice ? at->second : SliceId{};
}

std::shared_ptr<const ComparisonAnswer> answer_comparison(const Document& a, const Document& b, const CompareOptions& options,
                                                          const std::atomic<bool>* cancel) {
  a.diagnose(cancel);
  b.diagnose(cancel);
  if (cancel && *cancel) return nullptr;
  ComparisonAnswer answer;
  answer.options = options;
  Result<Comparison> made = compare(compared(a), compared(b), options, cancel);
  if (cancel && *cancel) return nullptr;
  if (!made) {
    answer.error = made.error().message;
    answer.step_a = a.trace.span;
    answer.step_b = b.trace.span;
  } else {
    answer.comparison = std::move(*made);
    answer.matches = SliceMatches(answer.comparison);
    answer.marks_a = KernelMarks(answer.comparison, TraceSide::a, a.trace);
    answer.marks_b = KernelMarks(answer.comparison, TraceSide::b, b.trace);
    answer.step_a = step_span(a.trace, answer.comparison.a.picked_slice);
    answer.step_b = step_span(b.trace, answer.comparison.b.picked_slice);
  }
  return std::make_shared<const ComparisonAnswer>(std::move(answer));
}

std::shared_ptr<const ComparisonAnswer> answer(const Document& a, const ComparisonQuestion& question,
                                               const std::atomic<bool>* cancel) {
  return answer_comparison(a, *question.b, question.options, cancel);
}

std::vector<std::int64_t> common_steps(const Document& a, const Document& b) {
  const std::vector<std::int64_t> of_a = step_numbers(a), of_b = step_numbers(b);
  std::vector<std::int64_t> both;
  std::set_intersection(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), std::back_inserter(both));
  return both;
}

std::string options_text(const CompareOptions& options) {
  if (options.pick == StepPick::all) return "all steps";
  return options.pick == StepPick::median ? "median step" : "step " + std::to_string(options.number);
}

std::int64_t column_value(const KernelChange& row, ChangeColumn column) {
  switch (column) {
    case ChangeColumn::change: return static_cast<std::int64_t>(row.change);
    case ChangeColumn::count_a: return row.count_a;
    case ChangeColumn::count_b: return row.count_b;
    case ChangeColumn::time_a: return row.ns_a;
    case ChangeColumn::time_b: return row.ns_b;
    case ChangeColumn::delta: return row.ns_b - row.ns_a;
    default: return 0;
  }
}

std::int64_t column_value(const OperatorNode& row, NodeColumn column) {
  switch (column) {
    case NodeColumn::cpu_a: return row.cpu_a;
    case NodeColumn::cpu_b: return row.cpu_b;
    case NodeColumn::cpu_delta: return row.cpu_delta();
    case NodeColumn::gpu_a: return row.gpu_a;
    case NodeColumn::gpu_b: return row.gpu_b;
    case NodeColumn::gpu_delta: return row.gpu_delta();
    default: return 0;
  }
}

std::string both_names(const std::string& a, const std::string& b) {
  if (a.empty() || a == b) return b;
  return b.empty() ? a : a + "  \xE2\x86\x92  " + b;
}

void arrange_comparison(CompareState& state) {
  CompareState::Arranged& made = state.arranged;
  const RowOrder order = state.table == CompareTable::kernels ? state.kernel_order : state.operator_order;
  const bool tree = state.tree && state.table == CompareTable::operators;
  if (made.of == state.answer && made.table == state.table && made.order == order && made.tree == tree &&
      made.filter == state.filter)
    return;
  made = {state.answer, state.table, order, tree, state.filter, {}};
  if (!state.answer || (state.table != CompareTable::kernels && state.table != CompareTable::operators)) return;
  const Comparison& c = state.answer->comparison;
  const std::size_t count = state.table == CompareTable::kernels ? c.kernels.size() : c.operators.size();
  for (std::uint32_t row = 0; row < count; ++row) {
    if (passes(state, c, row)) made.rows.push_back(row);
  }
  if (!tree) sort_rows(c, state.table, order, made.rows);
}

std::string signed_duration(Ns ns) { return ns == 0 ? "0" : (ns < 0 ? "-" : "+") + format_duration(std::abs(ns)); }

std::string signed_count(std::int64_t n) { return n == 0 ? "0" : (n < 0 ? "-" : "+") + format_count(std::abs(n)); }

std::string figure_text(StepFigure figure, std::int64_t value) {
  return is_time(figure) ? format_duration(value) : format_count(value);
}

std::string figure_delta_text(StepFigure figure, std::int64_t delta) {
  return is_time(figure) ? signed_duration(delta) : signed_count(delta);
}

float change_of(double a, double b) {
  if (a == b) return 0;
  if (a <= 0 || b <= 0) return a <= 0 ? 1.0f : -1.0f;
  return static_cast<float>(std::clamp(std::log(b / a) / std::log(kWholeScale), -1.0, 1.0));
}

std::string comparison_csv(const Comparison& c, CompareTable table, const std::vector<std::uint32_t>& rows) {
  std::string out;
  if (table == CompareTable::steps) {
    out = "figure,a,b,delta,min_a,max_a,min_b,max_b\n";
    for (std::size_t i = 0; i < kStepFigures; ++i) {
      const auto figure = static_cast<StepFigure>(i);
      const StepSpread &a = c.a.of(figure), &b = c.b.of(figure);
      out += std::string(figure_key(figure));
      for (const std::int64_t value : {a.median, b.median, b.median - a.median, a.min, a.max, b.min, b.max})
        out += number_cell(value);
      out += '\n';
    }
  } else if (table == CompareTable::kernels) {
    out = "change,name_a,name_b,count_a,count_b,ns_a,ns_b,delta_ns\n";
    for (const std::uint32_t row : rows) {
      const KernelChange& k = c.kernels[row];
      out += std::string(kernel_change_name(k.change)) + ',' + csv_cell(k.name_a) + ',' + csv_cell(k.name_b);
      for (const std::int64_t value : {std::int64_t{k.count_a}, std::int64_t{k.count_b}, k.ns_a, k.ns_b, k.ns_b - k.ns_a})
        out += number_cell(value);
      out += '\n';
    }
  } else if (table == CompareTable::operators) {
    out = "path,state,cpu_ns_a,cpu_ns_b,cpu_delta_ns,gpu_ns_a,gpu_ns_b,gpu_delta_ns\n";
    for (const std::uint32_t row : rows) {
      const OperatorNode& n = c.operators[row];
      out += csv_cell(operator_path(c, row)) + ',' + std::string(node_state_name(n.state));
      for (const std::int64_t value : {n.cpu_a, n.cpu_b, n.cpu_delta(), n.gpu_a, n.gpu_b, n.gpu_delta()})
        out += number_cell(value);
      out += '\n';
    }
  } else {
    out = "rule,tone,title,summary\n";
    for (const ComparisonFinding& f : c.findings)
      out +=
          csv_cell(f.rule) + ',' + std::string(tone_name(f.tone)) + ',' + csv_cell(f.title) + ',' + csv_cell(f.summary) + '\n';
  }
  return out;
}

}  // namespace gapscope
