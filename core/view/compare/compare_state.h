#pragma once
// Two traces side by side: which of them the panels speak of, what is asked about the two, and what came of it. The second
// document itself is in FrameInput. The code that carries out MakeComparison puts the answer here: it is about both.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "core/base/ids.h"
#include "core/compare/comparison.h"
#include "core/view/search/search_model.h"
#include "core/view/table/table_look.h"

namespace gapscope {

enum class TraceSide : std::uint8_t { a, b };
constexpr TraceSide other(TraceSide side) { return side == TraceSide::a ? TraceSide::b : TraceSide::a; }

struct ComparisonAnswer;  // core/view/compare/compare_model.h

inline bool same_options(const CompareOptions& x, const CompareOptions& y) {
  return x.pick == y.pick && x.annotation == y.annotation && (x.pick != StepPick::number || x.number == y.number);
}

// One piece of work in both traces; none on the side that lacks it.
struct SlicePair {
  SliceId a, b;
};

enum class CompareTable : std::uint8_t { steps, kernels, operators, findings };

struct CompareState {
  bool open = false;           // a second document is shown; written by AppUi at the start of each frame
  bool loading = false;        // or on its way; written by AppUi as well
  TraceSide side{};            // the trace that keys and panels are about
  bool turn = false;           // set by a command: the other side is to be acted on from the next frame on
  float share = 0.5f;          // of the height of the lanes below the GPUs, for A
  bool colour_changes = true;  // kernels on the lanes show what became of them
  CompareOptions options;
  std::optional<CompareOptions> asked;  // of the last MakeComparison
  std::shared_ptr<const ComparisonAnswer> answer;
  std::string trouble;                       // why there is none: a sentence; empty: nothing went wrong
  std::optional<std::size_t> hits_of_other;  // how much was found there; none: not known
  std::optional<SlicePair> show;             // set by the tab: the timelines select these and bring them into view

  // The tab
  CompareTable table = CompareTable::steps;
  TableLook kernel_look, operator_look;
  std::int64_t chosen = -1;  // position in the comparison's kernels or operators
  ArrangedRows arranged;     // made from the above when one of them changed

  TableLook& look() { return table == CompareTable::kernels ? kernel_look : operator_look; }
  // Operators stand under each other as they called, not by what changed most.
  static constexpr RowOrder kAsCalled{std::numeric_limits<std::size_t>::max(), false};
  bool as_called() const { return operator_look.order == kAsCalled; }
};

}  // namespace gapscope
