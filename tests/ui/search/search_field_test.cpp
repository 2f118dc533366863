#include <doctest/doctest.h>

#include "core/load/load_trace.h"
#include "core/view/document.h"
#include "tests/support/hand_trace.h"
#include "tests/support/headless_ui.h"
#include "ui/commands.h"
#include "ui/search/search_field.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

struct Typing {
  Typing() : document(trace()), h(&document) {}

  static std::shared_ptr<const Trace> trace() {
    return hand_trace(
        {{"python", "thread 1", LaneKind::cpu_thread, {{{"aten::mm", 0, 100'000}, {"aten::add", 200'000, 250'000}}}},
         {"GPU 0",
          "stream 7",
          LaneKind::gpu_stream,
          {{{"gemm", 300'000, 900'000, Kind::kernel}, {"gemm", 950'000, 990'000, Kind::kernel}}}}});
  }
  // As a keyboard does: the key and, in the same frame, its letter.
  void type(char c) {
    if (c >= 'a' && c <= 'z') h.presses.push_back({static_cast<Key>(static_cast<int>(Key::a) + (c - 'a')), kNoMods, false});
    if (c == '/') h.presses.push_back({Key::slash, kNoMods, false});
    ImGui::GetIO().AddInputCharacter(static_cast<unsigned char>(c));
    frames(4);
  }
  void type(const std::string& text) {
    for (const char c : text) type(c);
  }
  // Carries out what was asked, as the session does.
  void frames(int count) {
    for (int i = 0; i < count; ++i) {
      h.frame();
      for (const Request& request : h.out.list) {
        if (const auto* ask = std::get_if<Ask>(&request)) answer_now(*ask->document, ask->question);
      }
      h.out.list.clear();
    }
  }
  void press(Key key, unsigned char mods = kNoMods) {
    h.presses.push_back({key, mods, false});
    frames(4);
  }
  ViewState& view() { return h.ui.view(); }
  std::string count() { return search_count_text(document, view().active(), view().window); }

  Document document;
  HeadlessUi h;
};

}  // namespace

TEST_CASE("typing into the search field finds, and moves nothing") {
  Typing t;
  const Span before = t.view().active().time.span;
  t.type("/");
  t.type("gemmwasdq");
  CHECK(t.view().active().search.typed.text == "gemmwasdq");
  CHECK(t.view().active().time.span == before);
  CHECK(t.view().window.settings.sizes.bottom_open);
  CHECK(t.view().window.box.kind == BoxKind::none);
  CHECK(t.count() == "no hit");
  CHECK_FALSE(t.view().active().selection);
}

TEST_CASE("Enter selects one hit after the other, Shift+Enter goes back, Escape leaves and then clears") {
  Typing t;
  t.type("/gemm");
  CHECK(t.count() == "2");
  t.press(Key::enter);
  CHECK(t.document.trace.name(t.view().active().selection) == "gemm");
  CHECK(t.count() == "1 of 2");
  t.press(Key::enter);
  CHECK(t.count() == "2 of 2");
  t.press(Key::enter);
  CHECK(t.count() == "1 of 2");
  t.press(Key::enter, kShift);
  CHECK(t.count() == "2 of 2");
  t.press(Key::escape);
  CHECK(t.view().active().search.typed.text == "gemm");
  CHECK_FALSE(t.view().active().search.has_keys);
  t.press(Key::enter);  // on the timeline Enter continues
  CHECK(t.count() == "1 of 2");
  t.press(Key::escape);
  CHECK(t.view().active().search.typed.text.empty());
  CHECK_FALSE(answer_to<SearchQuestion>(t.document));
  CHECK(t.view().active().selection);
}

TEST_CASE("the command box runs the command that fits best, and says nothing to one that cannot run") {
  Typing t;
  const ThemeName before = t.view().window.settings.theme;
  t.press(Key::p, kCtrl | kShift);
  t.type("light or");
  t.press(Key::enter);
  CHECK(t.view().window.settings.theme != before);
  CHECK(t.view().window.box.kind == BoxKind::none);
  t.press(Key::p, kCtrl | kShift);
  t.type("copy name");  // nothing is selected
  t.press(Key::enter);
  CHECK(t.view().window.box.kind == BoxKind::commands);
  t.press(Key::escape);
  CHECK(t.view().window.box.kind == BoxKind::none);
}

TEST_CASE("of commands that fit as well the shortest title is taken") {
  Typing t;
  const bool findings = t.view().window.settings.findings.open;
  t.press(Key::p, kCtrl | kShift);
  t.type("find");  // Findings is before it in the table
  t.press(Key::enter);
  CHECK(t.view().active().search.has_keys);
  CHECK(t.view().window.settings.findings.open == findings);
}

TEST_CASE("the arrow keys choose in the command box and leave the timeline alone") {
  Typing t;
  const Span before = t.view().active().time.span;
  t.press(Key::p, kCtrl | kShift);
  t.press(Key::down);
  t.press(Key::down);
  t.press(Key::up);
  CHECK(t.view().window.box.chosen == 1);
  t.press(Key::up);
  t.press(Key::up);
  CHECK(t.view().window.box.chosen == commands().size() - 2);  // round; the box itself is not in it
  CHECK(t.view().active().time.span == before);
}

TEST_CASE("Ctrl+P finds a lane by some letters and opens it") {
  Typing t;
  toggle_lane(t.view().active().folds, LaneId(1));
  t.press(Key::p, kCtrl);
  t.type("str7");
  t.press(Key::enter);
  CHECK(t.view().window.box.kind == BoxKind::none);
  CHECK_FALSE(t.view().active().folds.lane_collapsed[1]);
}

TEST_CASE("G goes to a time, and stays where that cannot be read") {
  Typing t;
  t.view().active().time = TimeView{{0, 100'000}, 0, 0};
  t.press(Key::g);
  t.type("soon");
  t.press(Key::enter);
  CHECK(t.view().window.box.kind == BoxKind::time);
  CHECK(t.view().active().time.span == Span{0, 100'000});
  t.press(Key::escape);
  t.press(Key::g);
  t.type("500us");
  t.press(Key::enter);
  CHECK(t.view().window.box.kind == BoxKind::none);
  CHECK(t.view().active().time.span == Span{450'000, 550'000});
  CHECK(t.view().active().notes.marks == std::vector<Span>{{500'000, 500'000}});  // it can be seen where that is
}

TEST_CASE("Shift+L lists the hits that Enter walks through, and types no letter") {
  Typing t;
  t.type('/');
  t.type("gemm");
  t.press(Key::enter);
  t.h.presses.push_back({Key::l, kShift, false});
  t.frames(1);
  ImGui::GetIO().AddInputCharacter('L');  // its letter comes a little later
  t.frames(4);
  CHECK(t.view().active().search.typed.text == "gemm");
  REQUIRE(t.view().active().list.of);
  CHECK(t.view().active().list.of->places.size() == 2);
  t.type('/');
  t.type("l");  // while nothing was walked yet it is a letter like others
  CHECK(t.view().active().search.typed.text == "l");
}
