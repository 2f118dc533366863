#include <doctest/doctest.h>

#include "core/view/sql/sql_examples.h"
#include "tests/support/headless_ui.h"
#include "tests/support/hold_keys.h"
#include "tests/support/panel_harness.h"
#include "tests/support/tiny_traces.h"
#include "ui/panels.h"

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

TEST_CASE("an error stands above the rows, the same query can be run again, and a blank one is not run") {
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
  CHECK(holds(tab.frame(), "Choose two columns of numbers."));
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
