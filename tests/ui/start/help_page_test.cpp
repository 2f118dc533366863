#include <doctest/doctest.h>

#include "tests/support/panel_harness.h"
#include "ui/app_ui.h"
#include "ui/commands.h"

using namespace gapscope;
using test::holds;

TEST_CASE("the help page has every command with its key, and the mouse") {
  ViewState view;
  view.window.help_open = true;
  view.window.frame.scale = 1;
  test::PanelHarness harness({1200, 3000});
  ImGui::GetIO().DisplaySize = {1200, 3000};
  const std::string text = harness.settle([&] { draw_help_page(view.window); });
  for (const Command& command : commands()) {
    CAPTURE(command.title);
    CHECK(holds(text, command.title));
    CHECK(holds(text, chords_text(command)));
  }
  CHECK(holds(text, mouse_help()[0].gesture));
}

TEST_CASE("the filter leaves what has the word in key, title or help") {
  ViewState view;
  view.window.help_open = true;
  view.window.frame.scale = 1;
  view.window.help_filter = "reload";
  test::PanelHarness harness;
  const std::string text = harness.settle([&] { draw_help_page(view.window); });
  CHECK(holds(text, command(CommandId::reload).help));
  CHECK_FALSE(holds(text, command(CommandId::quit).help));
}
