#include "core/view/notes/notes_model.h"

#include <doctest/doctest.h>

using namespace gapscope;

TEST_CASE("two marks show how far they are apart, whichever came first, and nothing when they overlap") {
  NotesState state;
  toggle_mark(state, {500, 600});
  CHECK(!between_marks(state));
  toggle_mark(state, {100, 200});
  CHECK(between_marks(state) == Span{200, 500});
  toggle_mark(state, {150, 400});
  CHECK(state.marks.size() == 2);
  REQUIRE(between_marks(state));
  CHECK(between_marks(state)->length() == 0);
}

TEST_CASE("the same mark again takes all marks away") {
  NotesState state;
  toggle_mark(state, {1, 2});
  toggle_mark(state, {3, 4});
  toggle_mark(state, {3, 4});
  CHECK(state.marks.empty());
}

TEST_CASE("notes lie in time order, and the new one is open for editing") {
  NotesState state;
  add_note(state, {500, 600});
  add_note(state, {100, 100});
  add_note(state, {300, 301});
  CHECK(state.chosen == 1);
  CHECK(state.edit);
  CHECK(state.notes[0].span.begin == 100);
  CHECK(state.notes[1].span.begin == 300);
  CHECK(state.notes[1].colour != state.notes[0].colour);
  CHECK(note_title(state.notes[0]) == "flag");
  CHECK(note_title(state.notes[2]) == "100 ns");
}

TEST_CASE("a removed note is gone and none is chosen") {
  NotesState state;
  add_note(state, {1, 2});
  remove_note(state, 7);
  CHECK(state.notes.size() == 1);
  remove_note(state, 0);
  CHECK(state.notes.empty());
  CHECK(state.chosen == -1);
}
