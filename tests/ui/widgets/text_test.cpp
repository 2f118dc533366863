#include "ui/widgets/text.h"

#include <doctest/doctest.h>

#include <algorithm>

#include <imgui_internal.h>

#include "tests/support/panel_harness.h"

using namespace gapscope;

namespace {

// The lines of a wrapped text at this width.
std::string wrapped(std::string_view text, float width) {
  test::PanelHarness harness({width, 4000});
  return harness.settle([&] { draw_text(Face::sans, {}, text, /*wrap=*/true); });
}

}  // namespace

TEST_CASE("a number keeps its unit alongside it at every width") {
  const std::string text = "Idle for 12.3 ms of 1,234.5 us (87.5 %), and 3.2 GB/s, 40 GPUs at 5 s.";
  bool broken = false;
  for (float width = 90; width < 600; width += 7) {
    CAPTURE(width);
    const std::string lines = wrapped(text, width);
    broken = broken || lines.find('\n') != lines.rfind('\n');
    for (const char* torn : {"12.3\nms", "1,234.5\nus", "(87.5\n%", "3.2\nGB/s", "5\ns."})
      CHECK(lines.find(torn) == std::string::npos);
  }
  CHECK(broken);
}

TEST_CASE("a line that just fits is not broken once more: a wider column never has more lines") {
  const std::string text =
      "For 954 µs it waited for the host: 508 kB in operators, 297 ns in Python outside operators, 148 µs inside launch calls.";
  std::ptrdiff_t before = 1000;
  for (float width = 120; width < 420; width += 0.25f) {
    CAPTURE(width);
    const std::string lines = wrapped(text, width);
    const std::ptrdiff_t now = std::count(lines.begin(), lines.end(), '\n');
    CHECK(now <= before);
    CHECK(lines.find("508\nkB") == std::string::npos);
    before = now;
  }
}

TEST_CASE("a long token breaks where its parts end") {
  const std::string lines = wrapped("_ZN2at6native_vectorized_elementwise::kernel<FillFunctor_of_float>", 260);
  CAPTURE(lines);
  REQUIRE(lines.find('\n') != std::string::npos);
  for (std::size_t at = lines.find('\n'); at != std::string::npos && at + 1 < lines.size(); at = lines.find('\n', at + 1)) {
    if (lines.find_first_not_of("\r\n", at) == std::string::npos) break;
    std::size_t last = at;
    while (last > 0 && (lines[last] == '\n' || lines[last] == '\r')) --last;
    CHECK(std::string("_:<").find(lines[last]) != std::string::npos);
  }
}

TEST_CASE("a tooltip does not cover what it explains, wherever that lies") {
  struct Thing {
    ImVec2 at, size;
  };
  for (const Thing& thing : {Thing{{20, 20}, {60, 16}}, Thing{{400, 300}, {60, 16}}, Thing{{700, 560}, {60, 16}},
                             Thing{{20, 570}, {60, 16}}, Thing{{20, 10}, {60, 570}}, Thing{{700, 10}, {60, 570}}}) {
    const ImVec2 at = thing.at, size = thing.size;
    CAPTURE(at.x);
    CAPTURE(at.y);
    test::PanelHarness harness({800, 600});
    ImVec2 low{}, high{};
    const auto draw = [&] {
      ImGui::SetCursorScreenPos(at);
      ImGui::InvisibleButton("thing", size);
      low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
      draw_hover(
          "A sentence of some length that explains the thing, so that it wraps into more than one line of the tooltip and is "
          "tall.");
    };
    harness.frame(draw);
    harness.point_at({at.x + 5, at.y + 8});
    harness.settle(draw, 6);
    const ImGuiWindow* tooltip = ImGui::FindWindowByName("##Tooltip_00");
    REQUIRE(tooltip);
    const ImRect box = tooltip->Rect();
    CHECK_FALSE(box.Overlaps(ImRect(low, high)));
    CHECK(box.Max.y <= 600);
    CHECK(box.Max.x <= 800);
  }
}
