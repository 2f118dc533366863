#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/view/document.h"
#include "core/view/timeline/lane_folds.h"
#include "core/view/timeline/thread_order.h"
#include "tests/support/diagnosed.h"
#include "tests/support/hand_trace.h"
#include "tests/support/headless_ui.h"
#include "tests/support/hold_keys.h"
#include "tests/support/real_traces.h"
#include "tests/support/tiny_traces.h"
#include "ui/widgets/drawn_text.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

// Enough lanes to scroll.
std::shared_ptr<const Document> many_lanes() {
  static const std::vector<std::string> titles = [] {
    std::vector<std::string> all;
    for (int i = 0; i < 40; ++i) all.push_back("thread " + std::to_string(i));
    return all;
  }();
  std::vector<HandLane> lanes;
  for (const std::string& title : titles)
    lanes.push_back({"p", title, LaneKind::cpu_thread, {{{"a", 0, 1000}}, {{"b", 100, 900}}}});
  return Document::make(hand_trace(lanes), nullptr);
}

const Zone* zone_of(const HeadlessUi& h, ZoneKind kind, LaneId lane) {
  for (const Zone& zone : h.ui.timeline().zones().all())
    if (zone.kind == kind && zone.lane == lane) return &zone;
  return nullptr;
}

ImVec2 middle(const Zone& zone) { return {(zone.x0 + zone.x1) / 2, (zone.y0 + zone.y1) / 2}; }

}  // namespace

TEST_CASE("the pin on a title pins its lane, which then stays where it is while the others scroll") {
  const auto document = many_lanes();
  HeadlessUi h(document.get());
  const LaneId lane(2);
  const Zone* title = zone_of(h, ZoneKind::lane_title, lane);
  REQUIRE(title);
  h.move_to(middle(*title));
  const Zone* pin = zone_of(h, ZoneKind::pin, lane);
  REQUIRE(pin);
  h.click(middle(*pin));
  CHECK(h.ui.view().active().folds.lane_pinned[2]);
  title = zone_of(h, ZoneKind::lane_title, lane);
  REQUIRE(title);
  CHECK(title->y0 == h.ui.timeline().areas().lanes.y0);
  h.ui.view().active().scroll_px = 500;
  h.frames(2);
  title = zone_of(h, ZoneKind::lane_title, lane);
  REQUIRE(title);
  CHECK(title->y0 == h.ui.timeline().areas().lanes.y0);
}

TEST_CASE("a link in the title shows the Python frames of its thread, or folds them, and the lane stays open") {
  const Document& document = diagnosed_once(test::recording("transformer_baseline")).document;
  HeadlessUi h(&document, 1200, 900);
  h.frames(4);
  const auto shown = std::find_if(h.ui.timeline().zones().all().begin(), h.ui.timeline().zones().all().end(),
                                  [](const Zone& zone) { return zone.kind == ZoneKind::python; });
  REQUIRE(shown != h.ui.timeline().zones().all().end());
  const LaneId lane = shown->lane;
  const LaneFolds& folds = h.ui.view().active().folds;
  const bool before = is_python_folded(folds, lane);
  for (const bool folded : {!before, before}) {
    const Zone* link = zone_of(h, ZoneKind::python, lane);
    REQUIRE(link);
    h.click(middle(*link));
    h.frames(2);
    CHECK(is_python_folded(folds, lane) == folded);
    CHECK_FALSE(folds.lane_collapsed[lane.index()]);
    CHECK(folds.python_folded);
  }
}

TEST_CASE("where the GPU waits for Python most of all, the thread that holds it back has its frames open") {
  const std::filesystem::path of_python = test::recordings_folder() / "plain/python_heavy_full.json.xz";
  for (const auto& [file, open] : {std::pair{of_python, true}, std::pair{test::recording("needless_sync"), false}}) {
    const Document& document = diagnosed_once(file).document;
    HeadlessUi h(&document, 1200, 900);
    h.frames(4);
    const LaneId thread = thread_that_holds_back(document);
    REQUIRE(thread);
    CHECK(is_python_folded(h.ui.view().active().folds, thread) != open);
    CHECK(h.ui.view().active().folds.python_folded);
  }
}

TEST_CASE("Python that opens by itself begins with the steps; a frame around them comes into sight when it is asked for") {
  const Document& document = diagnosed_once(test::recordings_folder() / "plain/python_heavy_full.json.xz").document;
  const Trace& trace = document.trace;
  HeadlessUi h(&document, 1200, 900);
  h.frames(4);
  TraceView& view = h.ui.view().active();
  const LaneId thread = thread_that_holds_back(document);
  const auto slice_in = [&](std::string_view begin) {
    for (std::uint32_t i = 0; i < trace.lane(thread).slice_count; ++i)
      if (const SliceId slice(std::size_t{trace.lane(thread).first_slice + i}); trace.name(slice).starts_with(begin))
        return slice;
    return SliceId{};
  };
  const SliceId step = slice_in("ProfilerStep#"), outer = slice_in("drive.py(39): record");
  REQUIRE((step && outer));
  REQUIRE(trace.depth(step) > trace.depth(outer));
  const auto place_of = [&](SliceId slice) { return h.ui.timeline().layout().place_of(trace, slice); };
  const auto zone = [&](SliceId slice) {
    const auto& all = h.ui.timeline().zones().all();
    return std::any_of(all.begin(), all.end(), [&](const Zone& z) { return z.kind == ZoneKind::slice && z.slice == slice; });
  };
  REQUIRE(place_of(step));
  CHECK(place_of(step)->depth == 0);
  CHECK(zone(step));
  CHECK_FALSE(place_of(outer));
  CHECK_FALSE(zone(outer));
  fold_python(view.folds, thread, true);
  const SliceId inner = slice_in("programs.py(12): step");
  select_slice(view, inner, /*reveal=*/true);
  h.frames(3);
  CHECK(place_of(inner));
  CHECK(view.folds.python_folded);  // those of other threads stay as they are
  select_slice(view, outer, /*reveal=*/true);
  h.frames(3);
  CHECK_FALSE(view.folds.python_folded);
  REQUIRE(place_of(outer));
  CHECK(place_of(step)->depth == trace.depth(step));
}

TEST_CASE("a device that a file has in two processes has its account at the first of them") {
  const auto document = document_from_text(R"json([
{"ph":"M","pid":419,"tid":0,"name":"process_name","args":{"name":"Ascend Hardware"}},
{"ph":"M","pid":419,"tid":2,"name":"thread_name","args":{"name":"Stream 2"}},
{"ph":"M","pid":420,"tid":0,"name":"process_name","args":{"name":"Communication"}},
{"ph":"M","pid":420,"tid":0,"name":"thread_name","args":{"name":"Group 0 Communication"}},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":9000,"tid":1,"ts":"1699529623107000.000","dur":60},
{"ph":"s","cat":"async_npu","name":"torch_to_npu","id":"1","pid":9000,"tid":1,"ts":"1699529623107000.000"},
{"ph":"X","name":"MatMulV2","pid":419,"tid":2,"ts":"1699529623107080.000","dur":100.02,"args":{"Task Type":"AI_CORE"}},
{"ph":"f","bp":"e","cat":"async_npu","name":"torch_to_npu","id":"1","pid":419,"tid":2,"ts":"1699529623107080.000"},
{"ph":"X","name":"hcom_allReduce__000_0_1","pid":420,"tid":0,"ts":"1699529623107190.000","dur":50,"args":{}}])json");
  document->diagnose();
  HeadlessUi h(document.get(), 1200, 700, 1, /*fonts=*/true);
  h.frames(4);
  std::size_t titles = 0, accounts = 0;
  for (const DrawnText& text : drawn_texts(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts)) {
    if (text.box.x1 > h.ui.timeline().areas().lanes.x1 || text.box.y0 > h.ui.timeline().areas().lanes.y1) continue;
    titles += text.text == "GPU 0";
    accounts += text.text.find("compute ") != text.text.npos;
  }
  CHECK(titles == 2);
  CHECK(accounts == 1);
}

TEST_CASE("titles that do not fit keep what distinguishes them") {
  const std::vector<HandLane> lanes = {{"p", "thread 4711 (pt_autograd_0)", LaneKind::cpu_thread, {{{"a", 0, 1000}}}},
                                       {"p", "thread 4711 (pt_autograd_1)", LaneKind::cpu_thread, {{{"a", 0, 1000}}}},
                                       {"p", "main", LaneKind::cpu_thread, {{{"a", 0, 1000}}}}};
  const auto document = Document::make(hand_trace(lanes), nullptr);
  HeadlessUi h(document.get(), 500, 560, 1, /*fonts=*/true);
  std::vector<std::string> titles;
  for (const DrawnText& text : drawn_texts(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts))
    if (text.box.x1 < h.ui.timeline().areas().lanes.x0) titles.push_back(text.text);
  const auto shown = [&](const char* end) {
    return std::any_of(titles.begin(), titles.end(), [&](const std::string& title) { return title.ends_with(end); });
  };
  CHECK(shown("0)"));
  CHECK(shown("1)"));
  CHECK(shown("main"));
}

TEST_CASE("what has scrolled under a pinned lane cannot be clicked through it") {
  const auto document = many_lanes();
  HeadlessUi h(document.get());
  set_pinned(h.ui.view().active().folds, LaneId(0), true);
  for (double scroll = 300; scroll < 360; scroll += 4) {
    h.ui.view().active().scroll_px = scroll;
    h.frames(2);
    const Box& lanes = h.ui.timeline().areas().lanes;
    const float sticky = h.ui.timeline().layout().pinned_height();
    for (float y = lanes.y0; y < lanes.y0 + sticky; y += 2) {
      const Zone zone = h.ui.timeline().zones().at(lanes.x0 + lanes.width() / 2, y);
      if (zone.slice.valid()) CHECK(document->trace.lane_id(zone.slice) == LaneId(0));
    }
  }
}

TEST_CASE("Escape closes the menu of the lanes and clears nothing else") {
  const auto document = many_lanes();
  HeadlessUi h(document.get());
  h.ui.view().active().selection = SliceId(3);
  for (const bool imgui_has_keys : {false, true}) {  // in the window Dear ImGui sees them too, and before us
    CAPTURE(imgui_has_keys);
    if (imgui_has_keys) hold_key(ImGuiKey_Space, false);
    const Box& button = h.ui.timeline().areas().ruler_titles;
    h.click({button.x0 + 20, (button.y0 + button.y1) / 2});
    REQUIRE(ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel));
    if (imgui_has_keys) hold_key(ImGuiKey_Escape, true);
    h.press(Key::escape);
    CHECK_FALSE(ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel));
    CHECK(h.ui.view().active().selection == SliceId(3));
    if (imgui_has_keys) hold_key(ImGuiKey_Escape, false);
    h.frames(2);
  }
  h.press(Key::escape);
  CHECK_FALSE(h.ui.view().active().selection.valid());
}

TEST_CASE("a title that is dragged takes its lane to another place") {
  const auto document = many_lanes();
  HeadlessUi h(document.get());
  const Zone* first = zone_of(h, ZoneKind::lane_title, LaneId(0));
  const Zone* third = zone_of(h, ZoneKind::lane_title, LaneId(2));
  REQUIRE(first);
  REQUIRE(third);
  const ImVec2 from = middle(*first), to{from.x, third->y1 - 2};
  h.move_to(from);
  h.button = true;
  h.frame();
  h.mouse = {from.x, from.y + 20};
  h.frames(2);
  h.mouse = to;
  h.frames(2);
  h.button = false;
  h.frames(2);
  const auto& order = h.ui.view().active().folds.lane_order;
  CHECK(order[0] == LaneId(1));
  CHECK(order[2] == LaneId(0));
  CHECK_FALSE(h.ui.view().active().folds.lane_collapsed[0]);
}
