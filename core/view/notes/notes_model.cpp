#include "core/view/notes/notes_model.h"

#include <algorithm>

#include "core/base/table/csv.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

constexpr std::size_t kMostMarks = 2;

}  // namespace

void toggle_mark(NotesState& state, Span span) {
  if (!state.marks.empty() && state.marks.back() == span) return state.marks.clear();
  if (state.marks.size() == kMostMarks) state.marks.erase(state.marks.begin());
  state.marks.push_back(span);
}

std::optional<Span> between_marks(const NotesState& state) {
  if (state.marks.size() < kMostMarks) return std::nullopt;
  const Span& a = state.marks[0];
  const Span& b = state.marks[1];
  return a.begin < b.begin ? Span{a.end, b.begin} : Span{b.end, a.begin};
}

void add_note(NotesState& state, Span span) {
  const auto later = [](const Span& s, const Note& n) { return s.begin < n.span.begin; };
  const auto at = std::upper_bound(state.notes.begin(), state.notes.end(), span, later);
  // The colour after the last one's, so that neighbours differ.
  const std::uint8_t colour = static_cast<std::uint8_t>(state.notes.size() % kNoteColours);
  state.chosen = static_cast<std::int32_t>(at - state.notes.begin());
  state.notes.insert(at, {span, {}, colour});
  state.edit = true;
}

void remove_note(NotesState& state, std::size_t at) {
  if (at >= state.notes.size()) return;
  state.notes.erase(state.notes.begin() + static_cast<std::ptrdiff_t>(at));
  state.chosen = -1;
  state.edit = false;
}

std::string note_title(const Note& note) {
  if (!note.text.empty()) return note.text;
  return note.span.empty() ? "flag" : format_duration(note.span.length());
}

std::string notes_csv(const std::vector<Note>& notes, Ns origin) {
  std::string out = "begin_ns,length_ns,text\n";
  for (const Note& note : notes)
    out +=
        std::to_string(note.span.begin - origin) + ',' + std::to_string(note.span.length()) + ',' + csv_cell(note.text) + '\n';
  return out;
}

}  // namespace gapscope
