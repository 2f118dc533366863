#include "core/view/edit_history.h"

#include <doctest/doctest.h>

using namespace gapscope;

TEST_CASE("undo takes back step by step, redo brings back, and another change ends that") {
  EditHistory history;
  Edits edits;
  const auto rest = [&] { history.watch(edits, /*at_rest=*/true); };
  rest();
  CHECK_FALSE(history.can_undo());
  edits.notes = {{{0, 1}, "a", 0}};
  history.watch(edits, /*at_rest=*/false);  // still typing
  edits.notes[0].text = "ab";
  rest();
  edits.notes.clear();  // deleted
  rest();
  CHECK((edits = history.undo()).notes.size() == 1);
  CHECK(edits.notes[0].text == "ab");
  rest();  // what was undone is no new step
  CHECK(history.can_redo());
  CHECK((edits = history.undo()).notes.empty());
  CHECK_FALSE(history.can_undo());
  CHECK((edits = history.redo()).notes.size() == 1);
  edits.marks = {{5, 6}};
  rest();
  CHECK_FALSE(history.can_redo());
  CHECK(history.can_undo());
}

TEST_CASE("lanes that the analyses add are no step") {
  EditHistory history;
  Edits edits;
  history.watch(edits, true);
  edits.folds.counter_collapsed = {true, true};
  history.watch(edits, true);
  CHECK_FALSE(history.can_undo());
  edits.folds.counter_collapsed[0] = false;
  ++edits.folds.revision;
  history.watch(edits, true);
  CHECK(history.can_undo());
  CHECK(history.undo().folds.counter_collapsed[0]);
}
