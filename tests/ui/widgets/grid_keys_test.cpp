#include "ui/widgets/grid_keys.h"

#include <doctest/doctest.h>

#include <array>
#include <string>

#include "tests/support/panel_harness.h"
#include "ui/widgets/drawn_text.h"
#include "ui/widgets/grid.h"
#include "ui/widgets/text.h"
#include "ui/widgets/text_field.h"

using namespace gapscope;

namespace {

constexpr std::array<GridColumn, 1> kOneColumn = {{{"Name", "The name of the row.", 0}}};

// A table of 200 rows with a filter above it; a click, or a step, chooses a row.
struct WalkedTable {
  void draw() {
    rest = take_grid_keys(presses);
    presses.clear();
    text_field(kFilterField, "filter", filter);
    typing = ImGui::IsItemActive();
    Grid grid;
    grid.id = "walked";
    grid.columns = kOneColumn;
    grid.rows = 200;
    grid.selected = chosen;
    grid.cell = [&](std::size_t row, std::size_t) { return GridCell{"row " + std::to_string(row), hover, 0, false}; };
    if (const GridClick click = draw_grid(grid, view.window); click.row >= 0) chosen = click.row;
  }
  std::string frame() {
    return harness.frame([this] { draw(); });
  }
  std::string press(Key key, unsigned char mods = kNoMods) {
    presses.push_back({key, mods, false});
    frame();
    harness.settle([this] { draw(); });
    return frame();
  }

  std::vector<KeyPress> presses, rest;
  std::string filter, hover;
  std::int64_t chosen = -1;
  bool typing = false;
  ViewState view;
  test::PanelHarness harness{{600, 300}};
};

}  // namespace

TEST_CASE("the arrows walk the rows of the table that was clicked, and bring them into sight") {
  WalkedTable table;
  table.frame();
  table.presses.push_back({Key::down, kNoMods, false});
  table.frame();
  CHECK(table.chosen == -1);  // it was not clicked
  CHECK(table.rest.size() == 1);
  REQUIRE(table.harness.click_around([&] { table.draw(); }, [&] { return table.chosen == 2; }));
  table.press(Key::down);
  CHECK(table.chosen == 3);
  CHECK(pointer_rests());
  table.press(Key::up);
  table.press(Key::up);
  CHECK(table.chosen == 1);
  for (int i = 0; i < 5; ++i) table.press(Key::page_down);
  CHECK(table.chosen == 51);
  CHECK(test::holds(table.frame(), "row 51"));
  for (int i = 0; i < 30; ++i) table.press(Key::page_down);
  CHECK(table.chosen == 199);
  table.harness.point_at({300, 200});
  table.frame();
  CHECK_FALSE(pointer_rests());
}

TEST_CASE("Ctrl+F goes from a table to the filter above it; Esc and a click elsewhere take the keys away") {
  WalkedTable table;
  REQUIRE(table.harness.click_around([&] { table.draw(); }, [&] { return table.chosen == 2; }));
  table.press(Key::escape);
  table.press(Key::down);
  CHECK(table.chosen == 2);
  table.chosen = -1;
  REQUIRE(table.harness.click_around([&] { table.draw(); }, [&] { return table.chosen == 2; }));
  table.press(Key::f, kCtrl);
  CHECK(table.typing);
}

TEST_CASE("the tooltip of a cell waits until the pointer rests on its row: it would cover the rows on the way") {
  WalkedTable table;
  table.hover = "all of the cell";
  set_hover_delay(0.3);
  const auto shown = [&](int frames) {
    std::string text;
    for (int i = 0; i < frames; ++i) text = table.frame();
    return text.find(table.hover) != std::string::npos;
  };
  table.frame();
  for (float y = 100; y < 200; y += 4) {
    table.harness.point_at({100, y});
    CHECK_FALSE(shown(1));
  }
  CHECK_FALSE(shown(10));
  CHECK(shown(20));
  set_hover_delay(0);
}

TEST_CASE("heads that are wider than their cells stand side by side") {
  constexpr std::array<GridColumn, 3> kNarrow = {
      {{"Name", "The name.", 0}, {"Waited", "How long.", 3, true}, {"Others waited", "How long others did.", 3, true}}};
  test::PanelHarness harness{{600, 300}};
  ViewState view;
  harness.settle([&] {
    Grid grid;
    grid.id = "narrow";
    grid.columns = kNarrow;
    grid.rows = 1;
    grid.sorted_by = 2;
    grid.cell = [](std::size_t, std::size_t) { return GridCell{"1", "", 0, false}; };
    draw_grid(grid, view.window);
  });
  Box waited, others;
  for (const DrawnText& text : drawn_texts(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts)) {
    if (text.text == "Waited") waited = text.box;
    if (text.text == "Others waited") others = text.box;
  }
  REQUIRE(waited.width() > 0);
  REQUIRE(others.width() > 0);
  CHECK(waited.x1 + 8 < others.x0);  // the mark of the order is between them
}
