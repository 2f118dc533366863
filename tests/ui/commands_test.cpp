#include "ui/commands.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "core/view/timeline/gap_view.h"
#include "core/view/timeline/time_view.h"
#include "tests/support/headless_ui.h"
#include "tests/support/real_traces.h"
#include "tests/support/stand_in.h"
#include "tests/support/tiny_traces.h"
#include "ui/panels.h"

using namespace gapscope;

TEST_CASE("every command is in the table once, with title, help and something to do") {
  std::set<CommandId> ids;
  for (const Command& c : commands()) {
    CHECK_MESSAGE(ids.insert(c.id).second, c.title);
    CHECK(std::strlen(c.title) > 0);
    CHECK(std::strlen(c.help) > 0);
    CHECK(c.help[std::strlen(c.help) - 1] == '.');
    CHECK((c.run != nullptr) != (c.panel != nullptr));
  }
  CHECK(ids.size() == static_cast<std::size_t>(CommandId::count_) + kPanels.size());
}

TEST_CASE("every tab has a command in the menu Tabs of View that shows it") {
  const std::shared_ptr<const Document> document = test::document_from_text(test::kOneLaunch);
  ViewState view;
  Requests out;
  CommandScope scope{document.get(), view.active(), view.window, out};
  for (const Panel& panel : kPanels) {
    CAPTURE(std::string(panel.id));
    const auto shows = [&](const Command& c) { return c.panel == &panel && c.menu == Menu::tabs; };
    const auto found = std::find_if(commands().begin(), commands().end(), shows);
    REQUIRE(found != commands().end());
    CHECK(found->help == panel.tooltip);
    run_command(found->id, scope);
    CHECK(is_panel_shown(view.window, panel.id));
  }
}

TEST_CASE("no two commands have the same chord, and each chord finds its command") {
  std::set<std::pair<Key, unsigned char>> chords;
  for (const Command& c : commands()) {
    for (const Chord& chord : c.chords) {
      if (chord.key == Key::none) continue;
      CHECK_MESSAGE(chords.insert({chord.key, chord.mods}).second, c.title);
      CHECK(command_for(chord) == &c);
    }
  }
}

TEST_CASE("chords are written as people say them") {
  CHECK(chord_text({Key::o, kCtrl}) == "Ctrl+O");
  CHECK(chord_text({Key::p, kCtrl | kShift}) == "Ctrl+Shift+P");
  CHECK(chord_text({Key::question}) == "?");
  CHECK(chord_text({}).empty());
  CHECK(chords_text(command(CommandId::help)) == "? or F1");
}

TEST_CASE("without a document only what makes sense is enabled") {
  ViewState view;
  Requests out;
  CommandScope scope{nullptr, view.active(), view.window, out};
  CHECK(is_enabled(command(CommandId::open_file), scope));
  CHECK_FALSE(is_enabled(command(CommandId::zoom_in), scope));
  for (const Command& c : commands()) run_command(c.id, scope);  // none may touch what is not there
}

TEST_CASE("every command runs on a real trace, with and without a selection") {
  const auto trace = test::load_once(test::recording("transformer_baseline"));
  const Document document(trace);
  document.diagnose();
  test::HeadlessUi h(&document);
  const Span whole = h.ui.view().active().time.span;
  const SliceId kernel = document.trace.gpu[document.trace.gpu.size() / 2].slice;
  for (const bool selected : {false, true}) {
    for (const Command& c : commands()) {
      CAPTURE(c.title);
      ViewState& view = h.ui.view();
      view.window.help_open = view.window.start_open = false;
      view.active().selection = selected ? kernel : SliceId{};
      h.frame();
      const ViewState& now = h.ui.view();
      if (c.while_held)
        h.hold(c.chords[0].key, 0.1);
      else if (c.chords[0].key != Key::none)
        h.press(c.chords[0].key, c.chords[0].mods);
      CommandScope scope{&document, view.active(), view.window, h.out};
      run_command(c.id, scope);
      h.frames(3);
      CHECK(now.active().time.span.length() >= kMinVisibleNs - 1);
      CHECK(now.active().time.span.length() <= whole.length() + 1);
      CHECK((!now.active().selection || now.active().selection.index() < document.trace.slice_count()));
      test::answer(h.out, document, view);
    }
  }
}

TEST_CASE("J leads to the longest gap, Shift+J to the next shorter of its cause, Shift+K to the slowest kernel") {
  const Document document(test::load_once(test::recording("transformer_baseline")));
  document.diagnose();
  test::HeadlessUi h(&document, 1600, 900);
  const TraceView& view = h.ui.view().active();
  const DeviceAccount& device = *account_of(document)->busiest();
  h.press(Key::j);
  REQUIRE(view.gaps.chosen);
  const std::size_t longest = view.gaps.chosen->gap;
  CHECK(longest == device.longest_gaps(1).front());
  CHECK(is_panel_shown(h.ui.view().window, "details"));
  Ns before = device.gaps[longest].span.length();
  for (int i = 0; i < 3; ++i) {
    h.press(Key::j, kShift);
    const DeviceGap& gap = device.gaps[view.gaps.chosen->gap];
    CHECK(gap.main == device.gaps[longest].main);
    CHECK(gap.span.length() <= before);
    CHECK(view.gaps.chosen->gap != longest);
    before = gap.span.length();
  }
  h.press(Key::k, kShift);
  Ns slowest = 0;
  for (std::size_t i = 0; i < document.trace.slice_count(); ++i)
    if (document.trace.kind(SliceId(i)) == Kind::kernel) slowest = std::max(slowest, document.trace.duration(SliceId(i)));
  REQUIRE(view.selection);
  CHECK(document.trace.duration(view.selection) == slowest);
  CHECK_FALSE(view.cycle.slices.empty());
  const TimeView& seen = view.move.active ? view.move.to : view.time;
  CHECK(static_cast<double>(slowest) > 0.02 * visible_ns(seen));
  const SliceId first = view.selection;
  h.press(Key::k, kShift);
  CHECK(document.trace.name_id(view.selection) != document.trace.name_id(first));
}

TEST_CASE("the menu Go has lines between its groups") {
  std::size_t run = 0, longest = 0, lines = 0;
  for (const Command& c : commands()) {
    if (c.menu != Menu::go) continue;
    if (begins_group(c.id)) run = 0, ++lines;
    longest = std::max(longest, ++run);
  }
  CHECK(lines >= 5);
  CHECK(longest <= 9);
}

TEST_CASE("no chord is taken by a key that acts while it is held") {
  for (const Command& c : commands()) {
    for (const Chord& chord : c.chords) {
      if (c.while_held && chord.key != Key::none) CHECK(chord.mods == kNoMods);  // modifiers make commands of them
    }
  }
}

TEST_CASE("a key that does nothing says why") {
  const std::shared_ptr<const Document> document = test::document_from_text(test::kOneLaunch);
  ViewState view;
  Requests out;
  CommandScope scope{document.get(), view.active(), view.window, out};
  run_press({Key::m}, scope);
  CHECK(view.window.key_hint == "M: select a slice or a gap, or mark a range first");
  run_press({Key::u}, scope);
  CHECK(view.window.key_hint == "U: no command has this key. ? lists all keys");
  run_press({Key::b}, scope);
  CHECK(view.window.key_hint.empty());
  run_press({Key::escape}, scope);
  CHECK(view.window.key_hint.empty());
  view.active().selection = test::slice_named(*document, "ProfilerStep#1");
  run_press({Key::up}, scope);
  CHECK(view.window.key_hint == "Up: no slice encloses or launches this one");
  scope.document = nullptr;
  run_press({Key::w}, scope);
  CHECK(view.window.key_hint == "W: open a trace first");
}

TEST_CASE("every command that cannot run says why, but for Escape") {
  ViewState view;
  Requests out;
  const std::shared_ptr<const Document> document = test::document_from_text(test::kOneLaunch);
  for (const bool open : {false, true}) {
    const CommandScope scope{open ? document.get() : nullptr, view.active(), view.window, out};
    for (const Command& c : commands()) {
      CAPTURE(c.title);
      CHECK(why_disabled(c, scope).empty() == (is_enabled(c, scope) || c.id == CommandId::deselect));
    }
  }
}

TEST_CASE("up leads from a kernel to its launch, operator and step, and down the same way back") {
  const std::shared_ptr<const Document> document = test::document_from_text(test::kOneLaunch);
  ViewState view;
  reset_folds(view.active().folds, document->trace);
  Requests out;
  CommandScope scope{document.get(), view.active(), view.window, out};
  const std::vector<std::string> way{"second", "cudaGraphLaunch", "ProfilerStep#1"};
  view.active().selection = test::slice_named(*document, way.front());
  for (std::size_t i = 1; i < way.size(); ++i) {
    run_command(CommandId::parent_slice, scope);
    CHECK(view.active().selection == test::slice_named(*document, way[i]));
  }
  for (std::size_t i = way.size() - 1; i-- > 0;) {
    run_command(CommandId::child_slice, scope);
    CHECK(view.active().selection == test::slice_named(*document, way[i]));
  }
  // Without a way up, down leads to the first.
  select_slice(view.active(), test::slice_named(*document, "cudaGraphLaunch"), false);
  run_command(CommandId::child_slice, scope);
  CHECK(view.active().selection == test::slice_named(*document, "first"));
}

TEST_CASE("Back leads from a tab that a jump opened to the tab before, and Forward there again") {
  const std::shared_ptr<const Document> document = test::document_from_text(test::kOneLaunch);
  ViewState view;
  Requests out;
  CommandScope scope{document.get(), view.active(), view.window, out};
  const auto rest = [&] {
    for (int i = 0; i < 60; ++i) view.active().history.watch(place_of(view.active()), {}, 1.0 / 60);
  };
  rest();
  show_panel(view.window, "steps");
  CHECK_FALSE(is_enabled(command(CommandId::back), scope));  // a tab that a person opened is no jump
  jump_to_panel(view.active(), view.window, "whatif");
  rest();
  run_command(CommandId::back, scope);
  CHECK(is_panel_shown(view.window, "steps"));
  rest();
  run_command(CommandId::forward, scope);
  CHECK(is_panel_shown(view.window, "whatif"));
  rest();
  run_command(CommandId::back, scope);
  CHECK(is_panel_shown(view.window, "steps"));
}

TEST_CASE("Back hides the panels that a jump brought up, Forward shows them again, and what the user hid stays hidden") {
  const std::shared_ptr<const Document> document = test::document_from_text(test::kOneLaunch);
  ViewState view;
  Requests out;
  CommandScope scope{document.get(), view.active(), view.window, out};
  const bool& open = view.window.settings.sizes.bottom_open;
  const auto rest = [&] {
    for (int i = 0; i < 60; ++i) view.active().history.watch(place_of(view.active()), {}, 1.0 / 60);
  };
  rest();
  run_command(CommandId::toggle_bottom, scope);
  REQUIRE_FALSE(open);
  jump_to_panel(view.active(), view.window, "whatif");
  rest();
  run_command(CommandId::back, scope);
  CHECK_FALSE(open);
  rest();
  run_command(CommandId::forward, scope);
  CHECK(is_panel_shown(view.window, "whatif"));
  rest();
  jump_to_panel(view.active(), view.window, "steps");
  rest();
  run_command(CommandId::toggle_bottom, scope);
  run_command(CommandId::back, scope);  // to What if
  CHECK_FALSE(open);
}

TEST_CASE("a gap that is chosen is marked and noted as a slice is, before a mark and a selected time") {
  const auto document = test::document_from_text(R"json([
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 0, "dur": 10, "args": {"correlation": 1}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 300, "dur": 10, "args": {"correlation": 2}},
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 20, "dur": 80, "args": {"device": 0, "stream": 7, "correlation": 1}},
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 400, "dur": 100, "args": {"device": 0, "stream": 7, "correlation": 2}}
])json");
  document->analyze();
  ViewState view;
  Requests out;
  CommandScope scope{document.get(), view.active(), view.window, out};
  const Ns begin = document->trace.span.begin;
  view.active().range = Span{begin, begin + 200'000};
  view.active().notes.marks = {{3, 4}};
  const DeviceAccount* device = account_of(*document)->busiest();
  REQUIRE((device && !device->gaps.empty()));
  view.active().gaps.chosen = ChosenGap{device->device, device->gaps.size() - 1};
  run_command(CommandId::keep_note, scope);
  run_command(CommandId::mark, scope);
  const Span gap = chosen_gap(*document, view.active()).gap->span;
  CHECK(gap.begin == document->trace.span.begin + 100'000);
  CHECK(gap.end == document->trace.span.begin + 400'000);
  REQUIRE(view.active().notes.notes.size() == 1);
  CHECK(view.active().notes.notes[0].span == gap);
  CHECK(view.active().notes.marks.back() == gap);
  view.active().range = Span{begin, begin + 50'000};  // marked elsewhere since then
  run_command(CommandId::keep_note, scope);
  CHECK(view.active().notes.notes.front().span == *view.active().range);  // they are in order of time
}
