#pragma once
// What of a diagnosis is shown: which findings, in which order, and where they are gone to.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/view/view_state.h"

namespace gapscope {

struct Diagnosis;
struct Document;
struct Finding;
struct RankedFinding;

struct FindingRow {
  std::uint32_t finding = 0;  // position in Diagnosis::findings
  bool led = false;           // folded under the one before it that is not
};

// Which item of the plan it is, from 1; 0: none.
std::size_t place_in_plan(const Diagnosis& diagnosis, const RankedFinding& finding);
// What is at the end of a finding's line: of a planned one how long the run, or a step, is with it and those before it, so
// that their order explains itself; else what its remedy would give alone, or the time that it speaks of.
struct FindingFigure {
  std::string_view word;  // "then "; "alone ", which may be left out
  std::string text;       // "≥9.30 ms", "≤22.9 %", "411 µs"
  bool planned = false;
};
FindingFigure figure_of(const Diagnosis& diagnosis, const RankedFinding& finding);
// gain_words(); planned_words() of a planned one.
std::string words_of_gain(const Diagnosis& diagnosis, const RankedFinding& finding);

// The finding that lists show this one under: what leads it, but for what is planned, which is by itself in the plan's
// order. -1: none.
std::int32_t shown_under(const Diagnosis& diagnosis, std::size_t finding);

// Leaders as FindingOrder has them, each followed by those it explains; without what is muted or hidden as a class, and without
// what has no place in `range`, if there is one.
std::vector<FindingRow> shown_findings(const Diagnosis& diagnosis, const FindingsState& state,
                                       const std::optional<Span>& range = std::nullopt);
// Places of the finding that lie in `range`, at least in part: positions in Finding::spans.
std::vector<std::size_t> places_in(const Finding& finding, const std::optional<Span>& range);
bool is_muted(const FindingsState& state, std::string_view rule_id);
void set_muted(FindingsState& state, std::string_view rule_id, bool muted);
// Findings that muting alone hides.
std::size_t muted_count(const Diagnosis& diagnosis, const FindingsState& state);

// Chooses a finding where it is; its slice is selected. The view stays.
void choose_finding(const Document& document, TraceView& view, WindowState& window, std::uint32_t finding, std::size_t place);
// Chooses a finding and brings its `place` (position in Finding::spans) into view: a slice is selected, a gap focused.
void go_to_finding(const Document& document, TraceView& view, const WindowState& window, std::uint32_t finding,
                   std::size_t place);
// The same, with the list open at it.
void show_finding(const Document& document, TraceView& view, WindowState& window, std::uint32_t finding, std::size_t place = 0);
// The next (by = 1) or previous (-1) shown finding after the chosen one, around the end; in the selected time where there
// is one, as for places. Teaching notes are passed over.
void walk_findings(const Document& document, TraceView& view, WindowState& window, int by);
// Opens the list with its first finding chosen and in view.
void open_findings(const Document& document, TraceView& view, WindowState& window);
// The next place of the chosen finding, around the end.
void walk_places(const Document& document, TraceView& view, const WindowState& window, int by);

}  // namespace gapscope
