#pragma once
// What a person marked and noted on the time axis. Marks are for measuring and go with the next ones; notes stay, with a
// text and a colour. A note without length is a flag. Plain data, changed by the functions below.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/time.h"

namespace gapscope {

constexpr std::size_t kNoteColours = 6;

struct Note {
  Span span;
  std::string text;
  std::uint8_t colour = 0;  // below kNoteColours
  friend bool operator==(const Note&, const Note&) = default;
};

struct NotesState {
  std::vector<Note> notes;    // in time order
  std::vector<Span> marks;    // two at most, the older one first
  std::int32_t chosen = -1;   // position in notes
  bool edit = false;          // the chosen one's fields should open
  bool editing = false;       // they are; written by the timeline in each frame
  std::optional<Ns> pointer;  // the time under the pointer; written by the timeline in each frame
};

// Marks a span next to the one marked last; the span marked last once more takes all marks away.
void toggle_mark(NotesState& state, Span span);
// What is between the two, to draw a line there; none without two.
std::optional<Span> between_marks(const NotesState& state);

// Adds a note and opens it for editing.
void add_note(NotesState& state, Span span);
void remove_note(NotesState& state, std::size_t at);
// The flag shown at `note`: its text, or what represents an empty one.
std::string note_title(const Note& note);

// A row each: begin since `origin`, length, text; times in nanoseconds.
std::string notes_csv(const std::vector<Note>& notes, Ns origin);

}  // namespace gapscope
