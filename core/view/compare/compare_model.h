#pragma once
// What the window says of two traces: the answer to MakeComparison, the slices that are the same work in both, and the rows
// and words of the tab "Compare". A difference is b - a: below zero b is faster, or has fewer.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/view/compare/compare_state.h"
#include "core/view/compare/kernel_marks.h"
#include "core/view/compare/two_views.h"

namespace gapscope {

struct Diagnosis;
struct Document;

// Which slice of one trace is which of the other, as far as the comparison knows: operators, and the GPU work below them, of
// the steps that were compared.
class SliceMatches {
 public:
  SliceMatches() = default;
  explicit SliceMatches(const Comparison& comparison);
  // The same work on the other side; none where that is not known.
  SliceId of(TraceSide side, SliceId slice) const;
  std::size_t size() const { return from_a_.size(); }

 private:
  using Pair = std::pair<SliceId, SliceId>;
  std::vector<Pair> from_a_, from_b_;  // sorted, each slice once
};

// What a diagnosis found, for comparing; `steps` that the trace has. Of a rule with several findings each.
std::vector<NamedFinding> named_findings(const Diagnosis& diagnosis, std::size_t steps);

struct ComparisonAnswer {
  CompareOptions options;
  Comparison comparison;
  std::string error;  // a sentence in place of the comparison
  SliceMatches matches;
  KernelMarks marks_a, marks_b;
  Span step_a, step_b;  // the steps that were compared; the whole trace where there are none
  Alignment alignment() const { return {step_a.begin, step_b.begin}; }
};

// What A is asked about itself and B. The work diagnoses both first where that is not done.
struct ComparisonQuestion {
  using Answer = ComparisonAnswer;
  static constexpr const char* kToDo = "compare the traces";
  std::shared_ptr<const Document> b;
  CompareOptions options;
};
std::shared_ptr<const ComparisonAnswer> answer(const Document& a, const ComparisonQuestion& question,
                                               const std::atomic<bool>* cancel);
// The same for callers that may wait.
std::shared_ptr<const ComparisonAnswer> answer_comparison(const Document& a, const Document& b, const CompareOptions& options,
                                                          const std::atomic<bool>* cancel = nullptr);

// The numbers of steps that both traces have, ascending: what the choice of a step offers.
std::vector<std::int64_t> common_steps(const Document& a, const Document& b);
std::string options_text(const CompareOptions& options);  // "median step", "all steps", "step 3"

// The kernels or the operators as columns, of the comparison, which must outlive them; null for the other tables.
std::unique_ptr<TableRows> comparison_rows(const Comparison& comparison, CompareTable table, bool as_called);

// Positions in the comparison's kernels or operators of those that pass the filter, in the chosen order; made anew when one
// of these changed. Nothing for the other tables.
void arrange_comparison(CompareState& state);

std::string figure_text(StepFigure figure, std::int64_t value);
// "+1.20 ms", "-3", "0".
std::string figure_delta_text(StepFigure figure, std::int64_t delta);
// How much more (above 0) or less, from -1 to 1: b / a on a scale where twice as long is 1 and half as long is -1.
float change_of(double a, double b);

// The table as comma-separated values, in nanoseconds, rows as shown.
std::string comparison_csv(const Comparison& comparison, CompareTable table, const std::vector<std::uint32_t>& rows);

}  // namespace gapscope
