#include <doctest/doctest.h>

#include <algorithm>

#include "core/diagnose/guide.h"
#include "tests/support/headless_ui.h"
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
  std::string text = harness.settle([&] { draw_help_page(view.window); });
  std::replace(text.begin(), text.end(), '\n', ' ');  // long ones wrap
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

TEST_CASE("the help has every page of the guide, and shows one: text, tables and code") {
  ViewState view;
  view.window.help_open = true;
  view.window.frame.scale = 1;
  view.window.help_page = "comparing";
  test::PanelHarness harness({1200, 3000});
  ImGui::GetIO().DisplaySize = {1200, 3000};
  std::string text = harness.settle([&] { draw_help_page(view.window); });
  for (const GuidePage& page : guide_pages()) CHECK(holds(text, std::string(page.title)));
  CHECK(holds(text, "Did a change help?"));
  CHECK(holds(text, "gapscope diff"));
  CHECK(holds(text, "Fewer launches per step"));
  CHECK_FALSE(holds(text, command(CommandId::reload).help));
  for (const GuidePage& page : guide_pages()) {
    view.window.help_page = page.name;
    CHECK(holds(harness.settle([&] { draw_help_page(view.window); }), std::string(page.title)));
  }
}

TEST_CASE("the guide and the keys open in one window, and a second time closes it") {
  test::HeadlessUi window(nullptr);
  WindowState& state = window.ui.view().window;
  CommandScope scope{nullptr, window.ui.view().active(), state, window.out};
  run_command(CommandId::guide, scope);
  CHECK(state.help_open);
  CHECK(state.help_page == "first-steps");
  run_command(CommandId::help, scope);
  CHECK(state.help_open);
  CHECK(state.help_page.empty());
  run_command(CommandId::help, scope);
  CHECK_FALSE(state.help_open);
}
