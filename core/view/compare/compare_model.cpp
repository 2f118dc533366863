#include "core/view/compare/compare_model.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "core/base/table/csv.h"
#include "core/base/table/output.h"
#include "core/base/text.h"
#include "core/compare/difference_columns.h"
#include "core/diagnose/device_time.h"
#include "core/view/document.h"

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
    named.push_back({std::string(rule.id), title_of(diagnosis, rule), problem && cost > 0,
                     cost / static_cast<Ns>(std::max<std::size_t>(1, steps)), claim_of(rule).time == ClaimedTime::idle});
  }
  return named;
}

namespace {

ComparedTrace compared(const Document& document) {
  ComparedTrace side{document.session};
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

std::unique_ptr<TableRows> comparison_rows(const Comparison& c, CompareTable table, bool as_called) {
  if (table == CompareTable::kernels) return kernel_change_rows(c);
  if (table == CompareTable::operators) return operator_rows(c, as_called);
  return nullptr;
}

void arrange_comparison(CompareState& state) {
  ArrangedRows& made = state.arranged;
  if (!made.is_other(state.answer, static_cast<std::size_t>(state.table), state.look())) return;
  made.rows.clear();
  if (!state.answer) return;
  if (const auto table = comparison_rows(state.answer->comparison, state.table, false)) made.rows = arrange(*table, made.look);
  if (state.table == CompareTable::operators) std::erase(made.rows, 0u);  // the step itself
}

std::string figure_text(StepFigure figure, std::int64_t value) {
  return is_time(figure) ? format_duration(value) : format_count(value);
}

std::string figure_delta_text(StepFigure figure, std::int64_t delta) {
  return delta == 0 ? "0" : (delta < 0 ? "-" : "+") + figure_text(figure, std::abs(delta));
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
        out += ',' + std::to_string(value);
      out += '\n';
    }
  } else if (const auto columns = comparison_rows(c, table, false)) {
    return csv_of(*columns, rows);
  } else {
    out = "rule,tone,title,summary\n";
    for (const ComparisonFinding& f : c.findings)
      out +=
          csv_cell(f.rule) + ',' + std::string(tone_name(f.tone)) + ',' + csv_cell(f.title) + ',' + csv_cell(f.summary) + '\n';
  }
  return out;
}

}  // namespace gapscope
