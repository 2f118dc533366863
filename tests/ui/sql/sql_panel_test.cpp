#include <optional>
#include <string_view>

#include <doctest/doctest.h>

#include "core/view/sql/sql_examples.h"
#include "tests/support/headless_ui.h"
#include "tests/support/hold_keys.h"
#include "tests/support/panel_harness.h"
#include "tests/support/stand_in.h"
#include "tests/support/tiny_traces.h"
#include "ui/panels.h"
#include "ui/sql/sql_editor.h"

using namespace gapscope;
using test::holds;

namespace {

struct SqlTab {
  SqlTab() : doc(test::document_from_text(test::kOneLaunch)) {}
  std::string frame() {
    return harness.settle([this] { draw(); });
  }
  void draw() {
    draw_sql(*doc, view.active(), view.window, out);
    for (const Request& request : out.list) {
      if (const auto* ask = std::get_if<Ask>(&request)) answer_now(*ask->document, ask->question);
      if (const auto* keep = std::get_if<KeepQueries>(&request)) kept = keep->recent;
    }
    out.list.clear();
  }
  std::string run(const char* query) {
    open_as_sql(view.window, query);
    frame();
    return frame();
  }

  std::shared_ptr<const Document> doc;
  ViewState view;
  Requests out;
  std::vector<std::string> kept;
  test::PanelHarness harness{{1600, 500}};
};

}  // namespace

TEST_CASE("the tab says how to begin, and runs nothing by itself") {
  SqlTab tab;
  tab.frame();
  CHECK(holds(tab.frame(), "Type a query or choose an example"));
  CHECK(tab.kept.empty());
}

TEST_CASE("a query's rows are shown, remembered, and lead to their slices") {
  SqlTab tab;
  const std::string text = tab.run("select id, ts, dur, name from slice where name = 'aten::add'");
  CHECK(holds(text, "1 row in"));
  CHECK(holds(text, "aten::add"));
  CHECK(tab.kept == std::vector<std::string>{"select id, ts, dur, name from slice where name = 'aten::add'"});
  CHECK(tab.harness.click_around([&] { tab.draw(); }, [&] { return tab.view.active().selection.valid(); }));
  CHECK(tab.doc->trace.name(tab.view.active().selection) == "aten::add");
}

TEST_CASE("an error is above the rows, the same query can be run again, and a blank one is not run") {
  SqlTab tab;
  CHECK(holds(tab.run("select * from kernels"), "kernel"));
  const std::uint32_t runs = tab.view.window.sql.runs;
  tab.run("select * from kernels");
  CHECK(tab.view.window.sql.runs == runs + 1);
  tab.run("  ;\n");
  CHECK(tab.view.window.sql.runs == runs + 1);
}

TEST_CASE("a chart of two columns takes the place of the rows") {
  SqlTab tab;
  tab.view.window.sql.chart = true;
  const std::string text = tab.run("select ts, dur from slice");
  CHECK(holds(text, "over"));
  CHECK_FALSE(holds(tab.run("select name from slice"), "NULL"));
  CHECK(holds(tab.frame(), "Choose two numeric columns."));
}

TEST_CASE(
    "the click that shows the tab gives the editor the keyboard, running a query leaves it there, and Esc keeps the text") {
  SqlTab tab;
  tab.harness.click([] {});
  tab.frame();
  CHECK(tab.view.window.sql.has_keys);
  for (const char c : std::string("select 1")) {
    ImGui::GetIO().AddInputCharacter(static_cast<unsigned char>(c));
    tab.harness.frame([&] { tab.draw(); });
  }
  CHECK(tab.view.window.sql.text == "select 1");
  const auto press = [&](ImGuiKey key) {
    test::hold_key(key, true);
    tab.harness.frame([&] { tab.draw(); });
    test::hold_key(key, false);
  };
  test::hold_modifiers(true, false);
  press(ImGuiKey_Enter);
  test::hold_modifiers(false, false);
  CHECK(holds(tab.frame(), "1 row in"));
  CHECK(tab.view.window.sql.has_keys);
  press(ImGuiKey_Escape);
  tab.frame();
  CHECK_FALSE(tab.view.window.sql.has_keys);
  CHECK(tab.view.window.sql.text == "select 1");
}

TEST_CASE("chords that a text field has no use for are commands there, too, and what they open takes the keyboard") {
  const auto doc = test::document_from_text(test::kOneLaunch);
  doc->diagnose();
  test::HeadlessUi ui(doc.get(), 1200, 700);
  WindowState& window = ui.ui.view().window;
  TraceView& view = ui.ui.view().active();
  SqlState& sql = window.sql;
  const auto run = [&](int frames) {
    for (int i = 0; i < frames; ++i) {
      ui.frame();
      test::answer(ui.out, *doc, ui.ui.view());
    }
  };
  const auto chord = [&](Key key, unsigned char mods) {
    ui.presses.push_back({key, mods, false});
    run(1);
  };
  const auto type = [&](std::string_view letters) {
    for (const char c : letters) ImGui::GetIO().AddInputCharacter(static_cast<unsigned char>(c));
    run(10);
  };
  const auto to_editor = [&] {
    ui.presses.push_back({Key::escape, kNoMods, false});
    run(2);
    window.box = {};
    window.start_open = false;
    show_panel(window, "sql");
    give_keys_to_sql_editor();
    run(10);
    REQUIRE(sql.has_keys);
  };
  run(8);
  to_editor();
  type("select 1");
  CHECK(sql.text == "select 1");
  chord(Key::p, kCtrl | kShift);
  CHECK(window.box.kind == BoxKind::commands);
  type("theme");
  CHECK(window.box.text == "theme");
  chord(Key::p, kCtrl);  // in the field of another command
  CHECK(window.box.kind == BoxKind::lanes);
  type("stream");
  CHECK(window.box.text == "stream");
  chord(Key::o, kCtrl);
  CHECK(window.start_open);
  type("/x");
  CHECK(window.box.kind == BoxKind::none);
  CHECK(window.start.path.ends_with("/x"));
  to_editor();
  chord(Key::f, kCtrl);
  type("aten");
  CHECK(view.search.typed.text == "aten");
  to_editor();
  chord(Key::m, kCtrl);
  type("note");
  REQUIRE(view.notes.notes.size() == 1);
  CHECK(view.notes.notes[0].text == "note");
  to_editor();
  const float zoom = window.settings.zoom;
  chord(Key::plus, kCtrl);
  CHECK(window.settings.zoom > zoom);
  type(";");  // nothing was opened: the editor has the keyboard still
  CHECK(sql.text == "select 1;");
  chord(Key::z, kCtrl);
  chord(Key::a, kCtrl);
  CHECK(view.notes.notes.size() == 1);  // they are the field's
  CHECK_FALSE(view.range);
  chord(Key::tab, kCtrl);
  CHECK_FALSE(is_panel_shown(window, "sql"));
  run(2);
  CHECK_FALSE(sql.has_keys);
}

TEST_CASE("a query is wrapped where it is shown, as long as it is, and not where it has no space") {
  CHECK(wrapped_query("select name from op", 11) == "select name\nfrom op");
  CHECK(wrapped_query("select name from op", 19) == "select name from op");
  CHECK(wrapped_query("select\nname from op", 10) == "select\nname from\nop");
  CHECK(wrapped_query("averyveryverylongname from op", 10) == "averyveryverylongname\nfrom op");
  CHECK(wrapped_query("", 10).empty());
}

TEST_CASE("what is typed into a wrapped query is done to the query itself") {
  SqlTab tab;
  tab.harness.resize({900, 300});
  SqlState& sql = tab.view.window.sql;
  const std::string query = "select short_name, kind, count(*) as count, sum(dur) as total_ns, avg(dur) as mean_ns from kernel";
  sql.text = query;
  sql.caret = query.size();
  tab.harness.point_at({-1, -1});
  tab.harness.click([] {});
  tab.frame();
  REQUIRE(sql.has_keys);
  const auto type = [&](const std::string& letters) {
    for (const char c : letters) {
      ImGui::GetIO().AddInputCharacter(static_cast<unsigned char>(c));
      tab.harness.frame([&] { tab.draw(); });
    }
  };
  type(" limit 10");
  CHECK(sql.text == query + " limit 10");
  const auto press = [&](ImGuiKey key) {
    test::hold_key(key, true);
    tab.harness.frame([&] { tab.draw(); });
    test::hold_key(key, false);
    tab.harness.frame([&] { tab.draw(); });
  };
  press(ImGuiKey_Home);  // of the last line as shown
  REQUIRE(sql.caret > 0);
  CHECK(sql.text[sql.caret - 1] == ' ');  // whose begin is a space of the query
  const std::size_t at = sql.caret;
  press(ImGuiKey_Enter);
  type("x ");
  CHECK(sql.text == (query + " limit 10").insert(at, "\nx "));
  press(ImGuiKey_Backspace);
  press(ImGuiKey_Backspace);
  press(ImGuiKey_Backspace);
  CHECK(sql.text == query + " limit 10");
  press(ImGuiKey_Escape);
  CHECK(sql.text == query + " limit 10");
}

TEST_CASE("a click next to the editor, and a letter typed there, begin a query and are no command of the timeline") {
  const auto doc = test::document_from_text(test::kOneLaunch);
  doc->diagnose();
  test::HeadlessUi ui(doc.get(), 900, 560);
  show_panel(ui.ui.view().window, "sql");
  SqlState& sql = ui.ui.view().window.sql;
  const auto run = [&](int frames) {
    for (int i = 0; i < frames; ++i) {
      ui.frame();
      test::answer(ui.out, *doc, ui.ui.view());
    }
  };
  run(8);
  const auto type = [&](Key key, char letter) {
    ImGui::GetIO().AddInputCharacter(static_cast<unsigned char>(letter));
    ui.presses.push_back({key, kNoMods, false});
    run(10);
  };
  const Span before = ui.ui.view().active().time.span;
  std::optional<Box> tabs;
  for (const PanelPlace& place : ui.ui.places())
    if (std::string_view(place.name) == "drawer") tabs = place.box;
  REQUIRE(tabs);
  ui.mouse = {tabs->x0 + 20, tabs->y1 - 8};  // below the editor
  run(2);
  CHECK_FALSE(sql.has_keys);
  type(Key::s, 's');
  CHECK(sql.text == "s");
  CHECK(sql.has_keys);
  type(Key::w, 'w');
  CHECK(sql.text == "sw");
  test::hold_key(ImGuiKey_Escape, true);
  run(1);
  test::hold_key(ImGuiKey_Escape, false);
  run(2);
  REQUIRE_FALSE(sql.has_keys);
  ui.mouse = {tabs->x1 - 40, tabs->y1 - 12};  // where the rows will be
  run(2);
  ui.button = true;
  run(1);
  ui.button = false;
  run(10);
  CHECK(sql.has_keys);
  type(Key::d, 'd');
  CHECK(sql.text == "swd");
  CHECK(ui.ui.view().active().time.span == before);
}
