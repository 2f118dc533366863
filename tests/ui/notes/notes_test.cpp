#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "core/view/notes/kept_view.h"
#include "core/view/timeline/time_view.h"
#include "tests/support/headless_ui.h"
#include "tests/support/panel_harness.h"
#include "tests/support/tiny_traces.h"
#include "ui/panels.h"
#include "ui/widgets/drawn_text.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

struct Noted {
  std::shared_ptr<const Document> document = document_from_text(kOneLaunch);
  HeadlessUi h{document.get()};

  ViewState& view() { return h.ui.view(); }
  void select(std::string_view name) { select_slice(view().active(), slice_named(*document, name), false); }
};

}  // namespace

TEST_CASE("M marks the selected slice's span, Shift+M keeps it as a note") {
  Noted n;
  n.h.press(Key::m);
  CHECK(n.view().active().notes.marks.empty());
  n.select("aten::add");
  n.h.press(Key::m);
  REQUIRE(n.view().active().notes.marks.size() == 1);
  CHECK(n.view().active().notes.marks[0] == Span{110'000, 150'000});
  n.h.press(Key::m, kShift);
  REQUIRE(n.view().active().notes.notes.size() == 1);
  CHECK(n.view().active().notes.notes[0].span == Span{110'000, 150'000});
  n.h.press(Key::escape);
  n.select("first");
  n.h.press(Key::m, kShift);
  REQUIRE(n.view().active().notes.notes.size() == 2);
  CHECK(n.view().active().notes.notes[1].span == Span{310'000, 311'000});
}

TEST_CASE("Ctrl+M drops a flag at the time under the pointer, and without a pointer in the middle") {
  Noted n;
  const Box lanes = n.h.ui.timeline().areas().lanes;
  n.h.move_to({lanes.x0 + lanes.width() / 4, lanes.y1 - 5});
  n.h.press(Key::m, kCtrl);
  REQUIRE(n.view().active().notes.notes.size() == 1);
  const Span visible = n.view().active().time.span;
  const Ns at = n.view().active().notes.notes[0].span.begin;
  CHECK(std::abs(at - visible.begin - visible.length() / 4) <= visible.length() / 200);
  CHECK(n.view().active().notes.notes[0].span.empty());
}

TEST_CASE("Shift+M writes a note where nothing is selected or marked, and what is typed on is its text") {
  Noted n;
  const bool findings = n.view().window.settings.findings.open;
  for (const char letter : {'M', 'b', 'w'}) ImGui::GetIO().AddInputCharacter(static_cast<unsigned char>(letter));
  n.h.presses = {{Key::m, kShift, false}, {Key::b, kNoMods, false}, {Key::w, kNoMods, false}};
  n.h.frames(10);
  const Span visible = n.view().active().time.span;
  REQUIRE(n.view().active().notes.notes.size() == 1);
  const Note& note = n.view().active().notes.notes[0];
  CHECK(std::abs(note.span.begin - visible.begin - visible.length() / 2) <= 1);
  CHECK(note.text == "bw");
  CHECK(n.view().window.settings.findings.open == findings);
  ImGui::GetIO().AddInputCharacter('x');
  n.h.frames(2);
  CHECK(note.text == "bwx");
  n.h.press(Key::enter);
  CHECK_FALSE(ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel));
  CHECK(note.text == "bwx");
}

TEST_CASE("Delete removes the note that was chosen last, once its fields are closed") {
  Noted n;
  n.select("aten::add");
  n.h.press(Key::m, kShift);
  n.h.press(Key::escape);
  n.h.press(Key::del);
  CHECK(n.view().active().notes.notes.empty());
}

TEST_CASE("a click on a flag in the ruler chooses its note") {
  Noted n;
  n.view().active().notes.notes = {{{500'000, 500'000}, "middle", 0}};
  n.h.frames(2);
  const TimelineAreas& areas = n.h.ui.timeline().areas();
  const Span visible = n.view().active().time.span;
  const float x =
      areas.lanes.x0 + areas.lanes.width() * static_cast<float>(500'000 - visible.begin) / static_cast<float>(visible.length());
  n.h.click({x + 6, (areas.digits.y1 + areas.ruler.y1) / 2});
  CHECK(n.view().active().notes.chosen == 0);
}

TEST_CASE("notes too close for a flag each have one that says how many, and a click on it lists them to choose from") {
  const auto document = document_from_text(kOneLaunch);
  HeadlessUi h(document.get(), 1200, 700, 1, /*fonts=*/true);
  h.ui.view().window.tour = {};
  NotesState& notes = h.ui.view().active().notes;
  const auto flags = [&] {
    std::vector<DrawnText> texts;
    const TimelineAreas& areas = h.ui.timeline().areas();
    for (const DrawnText& text : drawn_texts(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts))
      if (text.box.y0 >= areas.digits.y1 && text.box.y1 <= areas.ruler.y1 && text.box.x0 >= areas.ruler.x0)
        texts.push_back(text);
    return texts;
  };
  for (const Ns later : {Ns{0}, Ns{3000}}) {
    CAPTURE(later);
    notes = {};
    for (const Ns i : {0, 1, 2})
      notes.notes.push_back({{500'000 + i * later, 500'000 + i * later}, "note " + std::to_string(i), 0});
    notes.notes.push_back({{700'000, 700'000}, "far away", 0});
    h.frames(2);
    const std::vector<DrawnText> drawn = flags();
    REQUIRE(drawn.size() == 2);
    CHECK(drawn[0].text == "3 notes");
    CHECK(drawn[1].text == "far away");
    for (const std::int32_t next : {1, 0, 2}) {
      CAPTURE(next);
      const std::int32_t before = notes.chosen;
      h.click({drawn[0].box.x0 + 4, drawn[0].box.y0 + 4});
      CHECK(notes.chosen == before);
      CHECK_FALSE(notes.editing);
      std::vector<DrawnText> listed;
      for (const DrawnText& text : drawn_texts(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts))
        if (text.text.starts_with("note ")) listed.push_back(text);
      REQUIRE(listed.size() == 3);
      const Box& line = listed[static_cast<std::size_t>(next)].box;
      h.click({line.x0 + 4, (line.y0 + line.y1) / 2});
      h.frames(3);
      CHECK(notes.chosen == next);
      CHECK(notes.editing);
      h.press(Key::escape);
      CHECK_FALSE(notes.editing);
    }
  }
}

TEST_CASE("a note whose flag has some room before the next one's says as much of its text as fits") {
  const auto document = document_from_text(kOneLaunch);
  HeadlessUi h(document.get(), 1200, 700, 1, /*fonts=*/true);
  h.ui.view().active().notes.notes = {{{500'000, 500'000}, "a slow first step of all", 0}, {{600'000, 600'000}, "next", 1}};
  h.frames(3);
  const TimelineAreas& areas = h.ui.timeline().areas();
  std::vector<std::string> texts;
  for (const DrawnText& text : drawn_texts(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts))
    if (text.box.y0 >= areas.digits.y1 && text.box.y1 <= areas.ruler.y1 && text.box.x0 >= areas.ruler.x0) {
      CHECK_FALSE(text.clipped);
      texts.push_back(text.text);
    }
  REQUIRE(texts.size() == 2);
  CHECK(texts[0].size() > 5);
  CHECK(texts[0].size() < 24);
  CHECK(texts[1] == "next");
}

TEST_CASE("flags hide no digits of the ruler, and without notes it is as low as before") {
  const auto document = document_from_text(kOneLaunch);
  HeadlessUi h(document.get(), 1600, 900, 1, /*fonts=*/true);
  h.ui.view().window.tour = {};
  const auto texts_in_ruler = [&](const auto& visit) {
    for (const DrawnText& text : drawn_texts(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts))
      if (const Box& ruler = h.ui.timeline().areas().ruler;
          text.box.x0 >= ruler.x0 && text.box.y0 >= ruler.y0 && text.box.y1 <= ruler.y1)
        visit(text);
  };
  h.frames(3);
  std::vector<std::string> digits, still;
  texts_in_ruler([&](const DrawnText& text) { digits.push_back(text.text); });
  REQUIRE(digits.size() > 2);
  const float without = h.ui.timeline().areas().ruler.height();
  for (Ns at = 0; at < 1'000'000; at += 50'000) h.ui.view().active().notes.notes.push_back({{at, at}, "a note", 0});
  h.frames(3);
  texts_in_ruler([&](const DrawnText& text) {
    if (std::find(digits.begin(), digits.end(), text.text) != digits.end()) still.push_back(text.text);
  });
  CHECK(still == digits);
  CHECK(h.ui.timeline().areas().ruler.height() > without);
}

TEST_CASE("one undo takes a new note back with all that was typed and chosen for it, and one redo brings it all") {
  Noted n;
  for (const char letter : {'M', 'o', 'n', 'e'}) ImGui::GetIO().AddInputCharacter(static_cast<unsigned char>(letter));
  n.h.presses = {{Key::m, kShift, false}};
  n.h.frames(10);
  NotesState& notes = n.view().active().notes;
  REQUIRE(notes.notes.size() == 1);
  notes.notes[0].colour = 3;
  n.h.frames(3);
  n.h.press(Key::enter);
  REQUIRE(notes.notes[0].text == "one");
  n.h.press(Key::z, kCtrl);
  CHECK(notes.notes.empty());
  n.h.press(Key::z, kCtrl | kShift);
  REQUIRE(notes.notes.size() == 1);
  CHECK(notes.notes[0].text == "one");
  CHECK(notes.notes[0].colour == 3);
}

TEST_CASE("the tab Notes lists texts, and says what would fill it") {
  const auto document = document_from_text(kOneLaunch);
  ViewState view;
  Requests out;
  PanelHarness panel;
  const auto draw = [&] { draw_notes_panel(*document, view.active(), view.window, out); };
  CHECK(holds(panel.settle(draw), "No notes yet"));
  view.active().notes.notes = {{{200'000, 300'000}, "why so %s late", 1}};
  const std::string text = panel.settle(draw);
  CHECK(holds(text, "why so %s late"));
  CHECK(holds(text, "100 µs"));
}

TEST_CASE("a notice moves nothing, and a fresh start keeps the notes") {
  Noted n;
  const Notice notice{"Something changed.", {{"Start fresh", "help", StartFresh{}}}};
  const Box before = n.h.ui.timeline().areas().lanes;
  n.h.input.notice = &notice;
  n.h.frames(2);
  const Box& now = n.h.ui.timeline().areas().lanes;
  CHECK(std::tuple(now.x0, now.y0, now.x1, now.y1) == std::tuple(before.x0, before.y0, before.x1, before.y1));
  n.h.out.list.clear();
  for (float x = 0; x < 600 && !n.h.out.has<StartFresh>(); x += 20) n.h.click({x, 700 - 12});
  CHECK(n.h.out.has<StartFresh>());
  n.view().active().time.span = {200'000, 300'000};
  n.view().active().notes.notes = {{{1, 2}, "mine", 0}};
  show_panel(n.view().window, "compare");  // empty: a comparison left it
  n.h.out.list.clear();
  n.h.out.add(StartFresh{});
  n.h.frame();
  CHECK(n.view().active().time.span.length() > 800'000);
  CHECK(n.view().active().notes.notes.size() == 1);
  CHECK(n.view().window.tab == 0);
}

TEST_CASE("a single file does not open in the tab of a comparison") {
  Noted n;
  KeptView last = keep_view(n.document->trace, n.view().active());
  last.tab = "compare";
  n.h.input.kept = &last;
  n.h.input.document = nullptr;
  n.h.frame();
  n.h.input.document = n.document.get();
  n.h.frames(2);
  CHECK_FALSE(is_panel_shown(n.view().window, "compare"));
  last.tab = "kernels";
  n.h.input.document = nullptr;
  n.h.frame();
  n.h.input.document = n.document.get();
  n.h.frames(2);
  CHECK(is_panel_shown(n.view().window, "kernels"));
}

TEST_CASE("a file does not open in the tab of a selection that was not saved") {
  for (const bool is_selected : {false, true}) {
    Noted n;
    select_slice(n.view().active(), is_selected ? SliceId(1) : SliceId(), false);
    KeptView last = keep_view(n.document->trace, n.view().active());
    last.tab = "details";
    n.h.input.kept = &last;
    n.h.input.document = nullptr;
    n.h.frame();
    n.view().window.tab = 0;
    n.h.input.document = n.document.get();
    n.h.frames(2);
    CHECK(is_panel_shown(n.view().window, "details") == is_selected);
  }
}

TEST_CASE("the length of a mark gives way to the time at the pointer, and comes back") {
  const auto document = document_from_text(kOneLaunch);
  HeadlessUi h(document.get(), 1200, 700, 1, /*fonts=*/true);
  select_slice(h.ui.view().active(), slice_named(*document, "aten::add"), false);
  h.press(Key::m);
  const auto in_ruler = [&] {
    const Box& ruler = h.ui.timeline().areas().ruler;
    std::vector<std::string> texts;
    for (const DrawnText& text : drawn_texts(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts))
      if (text.box.y0 >= ruler.y0 && text.box.y1 <= ruler.y1) texts.push_back(text.text);
    return texts;
  };
  const auto says = [&](const std::string& wanted) {
    const std::vector<std::string> texts = in_ruler();
    return std::find(texts.begin(), texts.end(), wanted) != texts.end();
  };
  const std::string length = "40.0 \xC2\xB5s";
  REQUIRE(says(length));
  const TraceView& view = h.ui.view().active();
  const Box& lanes = h.ui.timeline().areas().lanes;
  const auto x_of = [&](Ns t) {
    return lanes.x0 + static_cast<float>(px_from_ns(view.time, static_cast<double>(lanes.width()), t));
  };
  const float middle = x_of(130'000);
  h.move_to({middle, lanes.y1 - 5});
  CHECK_FALSE(says(length));
  h.move_to({middle < (lanes.x0 + lanes.x1) / 2 ? lanes.x1 - 5 : lanes.x0 + 5, lanes.y1 - 5});
  CHECK(says(length));
}
