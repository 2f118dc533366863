// Every text of the window can be read: compared with what was drawn below it, in both themes. WCAG 2.1 asks for 4.5, and for
// 3 of what is dimmed because there is nothing behind it.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "core/load/load_trace.h"
#include "core/view/document.h"
#include "core/view/timeline/rgb.h"
#include "tests/support/headless_ui.h"
#include "tests/support/real_traces.h"
#include "tests/support/stand_in.h"
#include "ui/panels.h"
#include "ui/timeline/kernel_mark_paint.h"
#include "ui/widgets/drawn_text.h"
#include "ui/widgets/theme.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

constexpr double kLeast = 4.5, kLeastDimmed = 3;
constexpr int kSettleFrames = 4;

std::set<std::string> dimmed_words(const Document& document, const ViewState& view) {
  std::set<std::string> words;
  words.insert("More...");
  for (const Panel& panel : panels())
    if (!what_would_fill(panel, document, view.active(), view.window).empty()) words.insert(panel.title);
  for (const char* button : {"Recent", "Save", "Saved"}) words.insert(button);  // of an empty editor
  return words;
}

// A sentence for each text that is hard to read.
void hard_to_read(const Document& document, const ViewState& view, const std::string& where, std::set<std::string>& found) {
  const std::set<std::string> dimmed = dimmed_words(document, view);
  for (const DrawnText& text : drawn_texts(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts, /*with_grounds=*/true)) {
    const double ratio = contrast(text.ink, text.ground);
    if (ratio < (dimmed.contains(text.text) ? kLeastDimmed : kLeast))
      found.insert(where + ": \"" + text.text + "\" " + std::to_string(ratio) + " at " + std::to_string(text.box.x0) + "," +
                   std::to_string(text.box.y0));
  }
}

}  // namespace

TEST_CASE("every text has enough contrast with what it is on, in both themes") {
  const Document document(load_once(recording("mlp_geglu_compile")));
  document.diagnose();
  for (const ThemeName theme : {ThemeName::dark, ThemeName::light}) {
    HeadlessUi h(&document, 1280, 800, 1, /*fonts=*/true);
    ViewState& view = h.ui.view();
    view.window.settings.theme = theme;
    view.window.tour = {};
    std::set<std::string> found;
    for (const Panel& panel : panels()) {
      show_panel(view.window, panel.id);
      for (int i = 0; i < kSettleFrames; ++i) {
        h.frame();
        answer(h.out, document, view);
      }
      hard_to_read(document, view, std::string(theme == ThemeName::dark ? "dark, " : "light, ") + panel.title, found);
    }
    for (const std::string& text : found) MESSAGE(text);
    CHECK(found.empty());
  }
}

TEST_CASE("what a comparison marks stands out from the ground, and its text from it, in both themes") {
  for (const ThemeName theme : {ThemeName::dark, ThemeName::light})
    for (const KernelMark mark : {KernelMark::changed, KernelMark::only})
      for (const bool in_a : {false, true}) {
        const Paint paint = mark_paint(theme_of(theme), mark, in_a);
        CHECK(contrast(paint.fill, theme_of(theme).background) >= kLeastMarkContrast);
        CHECK(contrast(paint.fill, paint.text) >= kLeast);
      }
}

TEST_CASE("a text is held against the last colours below it, and its own may be translucent") {
  HeadlessUi h(nullptr, 400, 300, 1, /*fonts=*/true);
  h.frame();
  ImGui::NewFrame();
  ImDrawList& list = *ImGui::GetForegroundDrawList();
  list.AddRectFilled({0, 0}, {400, 300}, IM_COL32(255, 255, 255, 255));
  list.AddRectFilled({40, 0}, {400, 300}, IM_COL32(0, 0, 0, 128));
  list.AddText({10, 10}, IM_COL32(0, 0, 0, 255), "a");
  list.AddText({100, 10}, IM_COL32(0, 0, 0, 128), "b");
  ImGui::Render();
  std::vector<DrawnText> texts = drawn_texts(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts, /*with_grounds=*/true);
  std::erase_if(texts, [](const DrawnText& t) { return t.text != "a" && t.text != "b"; });
  REQUIRE(texts.size() == 2);
  CHECK(contrast(texts[0].ink, texts[0].ground) == doctest::Approx(21));
  CHECK(texts[1].ground == rgb(0x7F7F7F));
  CHECK(texts[1].ink == rgb(0x3F3F3F));
}
