#include <doctest/doctest.h>

#include "tests/support/panel_harness.h"
#include "ui/app_ui.h"

using namespace gapscope;

namespace {

struct ShownPage {
  explicit ShownPage(const EditorSettings& now) { show_editor_page(page, now); }
  void draw() {
    page.open = true;  // the clicks go over its cross, too
    draw_editor_page(page, view.window, out);
  }
  EditorSettings kept() const { return std::get<KeepEditor>(out.list.back()).editor; }

  EditorPage page;
  ViewState view;
  Requests out;
  test::PanelHarness harness{{900, 560}};
};

}  // namespace

TEST_CASE("an editor is chosen by a click, and kept with the paths as they were") {
  ShownPage shown({"", {"/workspace=/home/me/project"}});
  shown.harness.settle([&] { shown.draw(); });
  CHECK(shown.out.list.empty());  // nothing was chosen
  CHECK(shown.page.command == "code -g");
  REQUIRE(shown.harness.click_around([&] { shown.draw(); }, [&] { return shown.out.has<KeepEditor>(); }));
  CHECK(shown.kept().command == shown.page.command);
  CHECK(shown.kept().command != "code -g");
  CHECK(shown.kept().paths == std::vector<std::string>{"/workspace=/home/me/project"});
}
