#include "ui/app_ui.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string>

#include <imgui_internal.h>

#include "core/load/load_trace.h"
#include "core/view/selection/area_model.h"
#include "core/view/timeline/time_view.h"
#include "tests/support/hand_trace.h"
#include "tests/support/headless_ui.h"
#include "tests/support/hold_keys.h"
#include "tests/support/real_traces.h"
#include "tests/support/tiny_traces.h"
#include "ui/key_hint.h"
#include "ui/panels.h"
#include "ui/widgets/drawn_text.h"
#include "ui/widgets/text.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

// An operator that launches one kernel, and a copy that nothing launched.
constexpr std::string_view kTrace = R"({"traceEvents": [
  {"ph":"X","cat":"cpu_op","name":"aten::linear","pid":10,"tid":11,"ts":100,"dur":400},
  {"ph":"X","cat":"cpu_op","name":"aten::addmm","pid":10,"tid":11,"ts":150,"dur":300,"args":{"External id":5}},
  {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":10,"tid":11,"ts":200,"dur":50,"args":{"correlation":7}},
  {"ph":"X","cat":"kernel","name":"sgemm","pid":0,"tid":7,"ts":600,"dur":200,
   "args":{"correlation":7,"External id":5,"device":0,"stream":7,"grid":[1,1,1],"block":[32,1,1]}},
  {"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD","pid":0,"tid":7,"ts":900,"dur":100,"args":{"device":0,"stream":7}}
]})";

struct Opened {
  Opened() : trace(load_trace_from_text(kTrace)), document(*trace) {}
  Result<std::shared_ptr<const Trace>> trace;
  Document document;

  SliceId named(std::string_view name) const {
    for (std::size_t i = 0; i < document.trace.slice_count(); ++i) {
      if (document.trace.name(SliceId(i)) == name) return SliceId(i);
    }
    return {};
  }
};

// The middle of the rectangle that shows `slice`.
ImVec2 middle_of(const HeadlessUi& h, SliceId slice) {
  for (const Zone& zone : h.ui.timeline().zones().all()) {
    if (zone.kind == ZoneKind::slice && zone.slice == slice) return {(zone.x0 + zone.x1) / 2, (zone.y0 + zone.y1) / 2};
  }
  return {-1, -1};
}

ImVec2 lanes_middle(const HeadlessUi& h) {
  const Box& lanes = h.ui.timeline().areas().lanes;
  return {(lanes.x0 + lanes.x1) / 2, lanes.y1 - 5};
}

const TimeView& time_of(const HeadlessUi& h) { return h.ui.view().active().time; }

}  // namespace

TEST_CASE("a zoom that rested is gone back to, also where no frame was drawn meanwhile") {
  const Opened opened;
  HeadlessUi h(&opened.document);
  h.input.delta_s = 0.02;  // a frame in motion
  h.move_to(lanes_middle(h));
  h.press(Key::w);
  h.frames(12);
  const Span first = time_of(h).span;
  h.input.elapsed_s = 2;
  h.frame();
  h.input.elapsed_s = 0;
  h.press(Key::w);
  h.frames(12);
  REQUIRE(time_of(h).span.length() < first.length());
  h.press(Key::left, kAlt);
  h.frames(12);
  CHECK(time_of(h).span.length() == first.length());
}

TEST_CASE("Tab walks through the runs of the selected kernel, Shift+Tab back") {
  const auto document = test::document_from_text(R"({"traceEvents": [
    {"ph":"X","cat":"kernel","name":"sgemm","pid":0,"tid":7,"ts":100,"dur":20,"args":{"device":0,"stream":7}},
    {"ph":"X","cat":"kernel","name":"other","pid":0,"tid":7,"ts":200,"dur":20,"args":{"device":0,"stream":7}},
    {"ph":"X","cat":"kernel","name":"sgemm","pid":0,"tid":7,"ts":300,"dur":20,"args":{"device":0,"stream":7}},
    {"ph":"X","cat":"kernel","name":"sgemm","pid":0,"tid":7,"ts":400,"dur":20,"args":{"device":0,"stream":7}}]})");
  HeadlessUi h(document.get());
  TraceView& view = h.ui.view().active();
  const Trace& trace = document->trace;
  select_slice(view, SliceId(0), false);
  const auto begin = [&] { return trace.begin(view.selection) / kNsPerUs; };
  REQUIRE(begin() == 100);
  h.press(Key::tab);
  CHECK(begin() == 300);
  h.press(Key::tab);
  CHECK(begin() == 400);
  h.press(Key::tab, kShift);
  CHECK(begin() == 300);
  select_slice(view, test::slice_named(*document, "other"), false);  // has a single run
  h.press(Key::tab);
  CHECK(begin() == 200);
}

TEST_CASE("an opened trace is shown whole") {
  const Opened opened;
  HeadlessUi h(&opened.document);
  CHECK(time_of(h).span == fit(opened.document.trace.span).span);
  CHECK(h.ui.timeline().rects().size() == 5);
}

TEST_CASE("W zooms in and S out, about the pointer") {
  const Opened opened;
  HeadlessUi h(&opened.document);
  const Box lanes = h.ui.timeline().areas().lanes;
  h.move_to({lanes.x0 + lanes.width() * 0.3f, lanes.y0 + 30});
  const double px = static_cast<double>(h.mouse.x - lanes.x0);
  const Ns under = ns_from_px(time_of(h), static_cast<double>(lanes.width()), px);
  const double before = visible_ns(time_of(h));
  h.hold(Key::w, 0.3);
  CHECK(visible_ns(time_of(h)) < before * 0.8);
  CHECK(std::abs(ns_from_px(time_of(h), static_cast<double>(lanes.width()), px) - under) <= 2);
  const double zoomed_in = visible_ns(time_of(h));
  h.hold(Key::s, 0.1);
  CHECK(visible_ns(time_of(h)) > zoomed_in);
}

TEST_CASE("A pans left and D right") {
  const Opened opened;
  HeadlessUi h(&opened.document);
  h.move_to(lanes_middle(h));
  h.hold(Key::w, 0.5);
  const Ns before = time_of(h).span.begin;
  h.hold(Key::d, 0.1);
  CHECK(time_of(h).span.begin > before);
  const Ns right = time_of(h).span.begin;
  h.hold(Key::a, 0.2);
  CHECK(time_of(h).span.begin < right);
}

TEST_CASE("a held key moves as far at 30 as at 120 frames a second") {
  const Opened opened;
  HeadlessUi slow(&opened.document);
  slow.hold(Key::w, 0.5, 30);
  const double length = visible_ns(time_of(slow));
  HeadlessUi fast(&opened.document);
  fast.hold(Key::w, 0.5, 120);
  CHECK(visible_ns(time_of(fast)) == doctest::Approx(length).epsilon(0.001));
}

TEST_CASE("a click selects, a click on empty space deselects") {
  const Opened opened;
  HeadlessUi h(&opened.document);
  const SliceId kernel = opened.named("sgemm");
  h.click(middle_of(h, kernel));
  CHECK(h.ui.view().active().selection == kernel);
  h.click(lanes_middle(h));
  CHECK_FALSE(h.ui.view().active().selection.valid());
}

TEST_CASE("F focuses the selection, and once more shows the whole trace") {
  const Opened opened;
  HeadlessUi h(&opened.document);
  const SliceId kernel = opened.named("sgemm");
  h.click(middle_of(h, kernel));
  h.press(Key::f);
  CHECK(time_of(h).span.contains(opened.document.trace.span_of(kernel)));
  CHECK(visible_ns(time_of(h)) < 200'000 * 2);
  h.press(Key::f);
  CHECK(time_of(h).span == fit(opened.document.trace.span).span);
}

TEST_CASE("bringing a slice into view pans no further than needed, and never zooms") {
  const auto trace = test::hand_trace(
      {{"python", "thread 1", LaneKind::cpu_thread, {{{"step", 0, 1'000'000'000}}, {{"op", 600'000'000, 600'000'100}}}}});
  const Document document(trace);
  test::HeadlessUi h(&document);
  const Span whole = h.ui.view().active().time.span;
  select_slice(h.ui.view().active(), SliceId(1), /*reveal=*/true);  // 100 ns of a second
  h.frames(3);
  CHECK(h.ui.view().active().time.span == whole);
  h.ui.view().active().time = {{599'999'000, 600'001'000}, 0, 0};
  select_slice(h.ui.view().active(), SliceId(0), /*reveal=*/true);  // it encloses what is in view
  h.frames(3);
  CHECK(h.ui.view().active().time.span == Span{599'999'000, 600'001'000});
}

TEST_CASE("a deleted note comes back by Ctrl+Z, and goes again by Ctrl+Shift+Z; so do pins and folds") {
  const auto document = test::document_from_text(test::kOneLaunch);
  test::HeadlessUi h(document.get());
  TraceView& view = h.ui.view().active();
  view.notes.notes = {{{10, 20}, "here", 0}};
  view.notes.chosen = 0;
  h.frames(2);
  h.press(Key::del);
  CHECK(view.notes.notes.empty());
  h.press(Key::z, kCtrl);
  REQUIRE(view.notes.notes.size() == 1);
  CHECK(view.notes.notes[0].text == "here");
  h.press(Key::z, kCtrl | kShift);
  CHECK(view.notes.notes.empty());
  set_pinned(view.folds, LaneId(0), true);
  h.frames(2);
  h.press(Key::z, kCtrl);
  CHECK_FALSE(view.folds.lane_pinned[0]);
  h.press(Key::z, kCtrl);
  CHECK(view.notes.notes.size() == 1);
}

TEST_CASE("tabs go by Alt and a digit and by Ctrl+Tab, and a double click on one gives it all of the height") {
  const auto document = test::document_from_text(test::kOneLaunch);
  document->diagnose();
  test::HeadlessUi h(document.get(), 1600, 900);
  h.press(static_cast<Key>(static_cast<int>(Key::digit_3)), kAlt);
  CHECK(h.ui.view().window.tab == 2);
  h.press(Key::tab, kCtrl);
  CHECK(h.ui.view().window.tab == 3);
  h.press(Key::tab, kCtrl | kShift);
  CHECK(h.ui.view().window.tab == 2);
  show_panel(h.ui.view().window, "report");
  h.frames(4);
  const auto drawer = [&] {
    for (const PanelPlace& place : h.ui.places())
      if (std::string_view(place.name) == "drawer") return place.box;
    return Box{};
  };
  const float before = drawer().height();
  h.press(Key::q, kShift);
  CHECK(drawer().height() > 700);
  h.press(Key::q, kShift);
  CHECK(drawer().height() == before);
  const ImVec2 bar{(drawer().x0 + drawer().x1) / 2, drawer().y0 + 2};
  h.click(bar);
  h.click(bar);
  h.frames(4);
  CHECK(drawer().height() > 700);
}

TEST_CASE("a tooltip waits until the pointer rests on its control") {
  const auto document = test::document_from_text(test::kOneLaunch);
  document->diagnose();
  test::HeadlessUi h(document.get(), 1600, 900);
  set_hover_delay(0.3);
  const auto tooltip = [] {
    const ImGuiWindow* window = ImGui::FindWindowByName("##Tooltip_00");
    return window && window->Active;
  };
  const auto drawer = std::find_if(h.ui.places().begin(), h.ui.places().end(),
                                   [](const PanelPlace& place) { return std::string_view(place.name) == "drawer"; });
  REQUIRE(drawer != h.ui.places().end());
  h.move_to({drawer->box.x1 - 100, 20});  // the verdict
  for (float x = 1590; x > 1300 && !hover_is_due(); x -= 6) h.move_to({x, 20});
  CHECK(hover_is_due());
  CHECK(h.ui.moving());  // a frame is due without input
  CHECK_FALSE(tooltip());
  for (int i = 0; i < 100 && h.ui.moving(); ++i) h.frame();  // the last one before the window sleeps
  CHECK(tooltip());
  CHECK_FALSE(ImGui::FindWindowByName("##Tooltip_00")->Hidden);
  set_hover_delay(0);
}

TEST_CASE("the tooltip of a slice covers nothing of it") {
  const auto document = test::document_from_text(test::kOneLaunch);
  for (const ImVec2 size : {ImVec2{900, 560}, ImVec2{1600, 900}}) {
    test::HeadlessUi h(document.get(), size.x, size.y);
    const std::vector<Zone> zones = h.ui.timeline().zones().all();
    int seen = 0;
    for (const Zone& zone : zones) {
      if (zone.kind != ZoneKind::slice || zone.x1 - zone.x0 < 8) continue;
      CAPTURE(document->trace.name(zone.slice));
      h.move_to({(zone.x0 + zone.x1) / 2, (zone.y0 + zone.y1) / 2});
      h.frames(3);
      const ImGuiWindow* tooltip = ImGui::FindWindowByName("##Tooltip_00");
      REQUIRE(tooltip);
      REQUIRE(tooltip->Active);
      CHECK_FALSE(tooltip->Rect().Overlaps(ImRect({zone.x0, zone.y0}, {zone.x1, zone.y1})));
      ++seen;
    }
    CHECK(seen >= 2);
  }
}

TEST_CASE("what was saved is said in green with a way to open it, and goes by itself; an error stays") {
  const auto document = test::document_from_text(test::kOneLaunch);
  test::HeadlessUi h(document.get(), 1600, 900);
  const float lanes = h.ui.timeline().areas().lanes.y0;
  const News crop{"17 slices are in the file now", "/data/t.part.json.gz"};
  h.input.news = &crop;
  h.frames(2);
  CHECK_FALSE(h.out.has<DismissMessage>());
  CHECK(h.ui.timeline().areas().lanes.y0 == lanes);
  for (float x = 10; x < 1590 && !h.out.has<OpenFile>(); x += 20) {
    if (h.out.has<DismissMessage>()) break;
    h.click({x, 900 - 12});
  }
  REQUIRE(h.out.has<OpenFile>());
  for (const Request& request : h.out.list)
    if (const auto* opened = std::get_if<OpenFile>(&request)) CHECK(opened->path == "/data/t.part.json.gz");
  h.out.list.clear();
  h.frames(60 * 9);
  CHECK(h.out.has<DismissMessage>());
  h.out.list.clear();
  h.input.news = nullptr;
  h.input.message = "Saved /data/t.part.json.gz: no, it cannot be read.";
  h.frames(60 * 9);
  CHECK_FALSE(h.out.has<DismissMessage>());
}

TEST_CASE("what was saved and is no trace opens in the desktop's program for it, where there is a desktop") {
  const auto document = test::document_from_text(test::kOneLaunch);
  const News page{"It is there.", "/data/t.overview.html"};
  for (const bool has_desktop : {true, false}) {
    test::HeadlessUi h(document.get(), 1600, 900, 1, /*fonts=*/true);
    h.ui.view().window.tour = {};
    h.input.news = &page;
    h.input.has_desktop = has_desktop;
    h.frames(2);
    bool offered = false;
    for (const DrawnText& text : drawn_texts(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts)) {
      if (text.text != "Open" || text.box.y0 < 900 - 30) continue;
      offered = true;
      h.click({(text.box.x0 + text.box.x1) / 2, (text.box.y0 + text.box.y1) / 2});
    }
    CHECK(offered == has_desktop);
    CHECK(h.out.has<OpenOnDesktop>() == has_desktop);
    for (const Request& request : h.out.list)
      if (const auto* opened = std::get_if<OpenOnDesktop>(&request)) CHECK(opened->path == "/data/t.overview.html");
  }
}

TEST_CASE("a pasted link opens its file at its time with its selection") {
  const auto document = test::document_from_text(test::kOneLaunch);
  test::HeadlessUi h(document.get());
  const Span half{0, document->trace.span.length() / 2};
  h.ui.view().window.link = ViewLink{"/elsewhere.json", half, SliceId(1), std::nullopt, {}};
  h.frames(2);
  CHECK_FALSE(h.ui.view().active().selection.valid());
  h.ui.view().window.link = ViewLink{document->trace.path, half, SliceId(1), Span{10, 20}, {LaneId(1)}};
  h.frames(2);
  CHECK(h.ui.view().active().selection == SliceId(1));
  CHECK(h.ui.view().active().time.span.end == document->trace.span.begin + half.end);
  const Ns zero = document->trace.span.begin;
  const Area* area = marked_area(h.ui.view().active());
  REQUIRE(area);
  CHECK(*area == Area{{zero + 10, zero + 20}, {LaneId(1)}});
  h.ui.view().window.link = ViewLink{document->trace.path, half, {}, Span{30, 40}, {LaneId(99)}};  // a lane that it has not
  h.frames(2);
  CHECK(h.ui.view().active().range == Span{zero + 10, zero + 20});
}

TEST_CASE("a link to a file that lies elsewhere here is to the open one of its name, once that is known") {
  const Document document(load_once(test::recording("needless_sync")));
  const std::string name = std::filesystem::path(document.trace.path).filename().string();
  test::HeadlessUi h(&document);
  const auto follows = [&](const std::string& path, const char* message) {
    h.ui.view().active().selection = {};
    h.ui.view().window.link = ViewLink{path, std::nullopt, SliceId(1), std::nullopt, {}};
    h.input.message = message;
    h.frames(2);
    return h.ui.view().active().selection == SliceId(1);
  };
  CHECK_FALSE(follows("/somebody/" + name, ""));  // it may be on its way
  CHECK_FALSE(follows("/somebody/other.json", "It was not found."));
  CHECK_FALSE(h.out.has<DismissMessage>());
  CHECK(follows("/somebody/" + name, "It was not found."));
  CHECK(h.out.has<DismissMessage>());
}

namespace {

// The first one that is wide enough to be met.
void point_at_a_slice(test::HeadlessUi& h) {
  for (const Zone& zone : h.ui.timeline().zones().all()) {
    if (zone.kind != ZoneKind::slice || zone.x1 - zone.x0 < 8) continue;
    return h.move_to({(zone.x0 + zone.x1) / 2, (zone.y0 + zone.y1) / 2});
  }
}

}  // namespace

TEST_CASE("a right click on a slice offers its name, its source and to hide its lane") {
  const auto document = test::document_from_text(test::kOneLaunch);
  test::HeadlessUi h(document.get(), 1600, 900, 1, /*fonts=*/true);
  point_at_a_slice(h);
  ImGui::GetIO().MouseDown[1] = true;
  h.frame();
  ImGui::GetIO().MouseDown[1] = false;
  h.frames(3);
  std::string all;
  for (const DrawnText& text : drawn_texts(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts)) all += text.text + "\n";
  for (const char* entry : {"Copy name", "Copy file:line", "Open in editor", "Select alike", "Mark", "Hide its lane"}) {
    CAPTURE(entry);
    CHECK(all.find(entry) != std::string::npos);
  }
}

TEST_CASE("Down and Enter choose in a menu that a right click opened, and do nothing else") {
  const auto document = test::document_from_text(test::kOneLaunch);
  test::HeadlessUi h(document.get(), 1600, 900, 1, /*fonts=*/true);
  point_at_a_slice(h);
  ImGuiIO& io = ImGui::GetIO();
  test::hold_key(ImGuiKey_Space, false);  // which older ones want to know of
  io.MouseDown[1] = true;
  h.frame();
  io.MouseDown[1] = false;
  h.frames(3);
  const auto press = [&](ImGuiKey key, Key ours) {
    test::hold_key(key, true);
    h.presses.push_back({ours, kNoMods, false});
    h.frames(2);
    test::hold_key(key, false);
    h.frames(2);
  };
  h.out.list.clear();  // what panels asked when they were opened
  const SliceId before = h.ui.view().active().selection;
  press(ImGuiKey_DownArrow, Key::down);  // from the first entry
  CHECK(h.ui.view().active().selection == before);
  CHECK(h.out.list.empty());
  press(ImGuiKey_Enter, Key::enter);
  CHECK_FALSE(ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel));
  CHECK(h.out.has<CopyText>());
  CHECK(h.ui.view().window.key_hint.starts_with("Copied"));
  CHECK(copied_words("gapscope:///data/t.json?from=1&to=9").starts_with("Copied a link. It works where"));
}

TEST_CASE("larger letters close no panel") {
  const auto document = test::document_from_text(test::kOneLaunch);
  document->diagnose();
  test::HeadlessUi h(document.get(), 1600, 900);
  const auto drawer = [&] {
    h.frames(4);
    for (const PanelPlace& place : h.ui.places())
      if (std::string_view(place.name) == "drawer") return place.box.height();
    return 0.0f;
  };
  const float before = drawer();
  CHECK(before > 200);
  h.ui.view().window.settings.zoom = h.input.scale = 1.331f;  // Ctrl++ three times
  CHECK(drawer() > 200);
}

TEST_CASE("a double click zooms to the slice") {
  const Opened opened;
  HeadlessUi h(&opened.document);
  const SliceId copy = opened.named("Memcpy HtoD");
  h.click(middle_of(h, copy));
  h.click(h.mouse);
  CHECK(visible_ns(time_of(h)) < 100'000 * 2);
  CHECK(time_of(h).span.contains(opened.document.trace.span_of(copy)));
}

TEST_CASE("Ctrl and wheel zoom, Shift and wheel pan, the wheel alone scrolls") {
  const Opened opened;
  HeadlessUi h(&opened.document, 1200, 240);
  h.ui.view().window.settings.sizes.bottom_open = false;
  h.move_to({700, 150});
  const double length = visible_ns(time_of(h));
  h.ctrl = true;
  h.wheel = 3;
  h.frame();
  h.ctrl = false;
  h.frames(60);
  CHECK(visible_ns(time_of(h)) < length * 0.8);
  const Ns begin = time_of(h).span.begin;
  h.shift = true;
  h.wheel = -1;
  h.frame();
  h.shift = false;
  h.frames(60);
  CHECK(time_of(h).span.begin > begin);
  h.wheel = -1;
  h.frames(2);
  CHECK(h.ui.view().active().scroll_px > 0);
}

TEST_CASE("Shift and drag pan with the pointer") {
  const Opened opened;
  HeadlessUi h(&opened.document);
  h.move_to(lanes_middle(h));
  h.hold(Key::w, 0.5);
  const Ns begin = time_of(h).span.begin;
  const double ns_per_px = visible_ns(time_of(h)) / static_cast<double>(h.ui.timeline().areas().lanes.width());
  h.shift = h.button = true;
  h.frame();
  h.mouse.x -= 100;
  h.frames(2);
  h.shift = h.button = false;
  h.frame();
  CHECK(static_cast<double>(time_of(h).span.begin - begin) == doctest::Approx(100 * ns_per_px).epsilon(0.02));
  CHECK_FALSE(h.ui.view().active().selection.valid());
}

TEST_CASE("a click on a lane's title folds it") {
  const Opened opened;
  HeadlessUi h(&opened.document);
  const auto zones = h.ui.timeline().zones().all();
  const auto title = std::find_if(zones.begin(), zones.end(), [](const Zone& z) { return z.kind == ZoneKind::lane_title; });
  REQUIRE(title != zones.end());
  const float height = h.ui.timeline().layout().height();
  h.click({title->x0 + 40, title->y0 + 10});
  CHECK(h.ui.view().active().folds.lane_collapsed[0]);
  CHECK(h.ui.timeline().layout().height() < height);
}

TEST_CASE("an arrow leads from the launch to its kernel, and a click on its end goes there") {
  const Opened opened;
  HeadlessUi h(&opened.document);
  const SliceId launch = opened.named("cudaLaunchKernel");
  const SliceId kernel = opened.named("sgemm");
  h.click(middle_of(h, launch));
  std::vector<Zone> ends;
  for (const Zone& zone : h.ui.timeline().zones().all()) {
    if (zone.kind == ZoneKind::flow_end) ends.push_back(zone);
  }
  REQUIRE(ends.size() == 2);
  h.click({(ends[1].x0 + ends[1].x1) / 2, (ends[1].y0 + ends[1].y1) / 2});
  CHECK(h.ui.view().active().selection == kernel);
}

TEST_CASE("typing in a text field never moves the timeline") {
  const Opened opened;
  HeadlessUi h(&opened.document);
  h.press(Key::o, kCtrl);
  CHECK(h.ui.view().window.start_open);
  h.hold(Key::w, 0.3);
  h.press(Key::d);
  CHECK(time_of(h).span == fit(opened.document.trace.span).span);
}

TEST_CASE("all vertices of the lanes lie inside the window") {
  const Opened opened;
  HeadlessUi h(&opened.document);
  h.click(middle_of(h, opened.named("sgemm")));
  h.hold(Key::w, 1.5);
  const Box& lanes = h.ui.timeline().areas().lanes;
  for (const SliceRect& rect : h.ui.timeline().rects()) {
    CHECK(rect.x0 >= 0);
    CHECK(static_cast<float>(rect.x1) <= lanes.width());
  }
}

TEST_CASE("another document resets view and selection") {
  const Opened first;
  const Opened second;
  HeadlessUi h(&first.document);
  h.click(middle_of(h, first.named("sgemm")));
  h.hold(Key::w, 0.3);
  h.input.document = &second.document;
  h.frame();
  CHECK_FALSE(h.ui.view().active().selection.valid());
  CHECK(time_of(h).span == fit(second.document.trace.span).span);
}

TEST_CASE("with nothing open there is a start screen and no timeline") {
  HeadlessUi h(nullptr);
  CHECK(h.ui.timeline().rects().empty());
  h.hold(Key::w, 0.2);
  h.press(Key::f);
}

TEST_CASE("dragging the overview's frame pans, dragging its edge changes the zoom, a press outside brings it there") {
  const Opened opened;
  HeadlessUi h(&opened.document);
  const Box strip = h.ui.timeline().areas().overview;
  const float y = (strip.y0 + strip.y1) / 2;
  const auto x_of = [&](Ns t) {
    return strip.x0 + static_cast<float>(px_from_ns(fit(opened.document.trace.span), static_cast<double>(strip.width()), t));
  };
  const auto drag = [&](float from, float by) {
    h.move_to({from, y});
    h.button = true;
    h.frame();
    h.mouse.x += by;
    h.frames(2);
    h.button = false;
    h.frame();
  };
  h.move_to(lanes_middle(h));
  h.hold(Key::w, 0.4);
  const Span before = time_of(h).span;
  drag(x_of(before.begin + before.length() / 2), 50);
  CHECK(time_of(h).span.begin > before.begin);
  CHECK(visible_ns(time_of(h)) == doctest::Approx(static_cast<double>(before.length())).epsilon(0.001));
  const Span moved = time_of(h).span;
  drag(x_of(moved.end), 30);
  CHECK(time_of(h).span.begin == moved.begin);
  CHECK(time_of(h).span.end > moved.end);
  drag(strip.x0 + 100, 0);
  CHECK(time_of(h).span.begin < before.begin);
}

TEST_CASE("a drag in the ruler selects a range, a click there or Esc clears it") {
  const Opened opened;
  HeadlessUi h(&opened.document);
  const Box ruler = h.ui.timeline().areas().ruler;
  const float y = (ruler.y0 + ruler.y1) / 2;
  const auto drag = [&](float from, float to) {
    h.move_to({from, y});
    h.button = true;
    h.frame();
    h.move_to({to, y});
    CHECK_FALSE(h.ui.view().active().range.has_value());  // tables wait for the end of the drag
    h.button = false;
    h.frames(2);
  };
  drag(ruler.x0 + 300, ruler.x0 + 100);
  REQUIRE(h.ui.view().active().range.has_value());
  const double width = static_cast<double>(ruler.width());
  CHECK(h.ui.view().active().range->begin == ns_from_px(time_of(h), width, 100));
  CHECK(h.ui.view().active().range->end == ns_from_px(time_of(h), width, 300));
  CHECK(is_panel_shown(h.ui.view().window, "selection"));  // what is in it
  CHECK(what_would_fill(kPanels[h.ui.view().window.tab], opened.document, h.ui.view().active(), h.ui.view().window).empty());
  h.click({ruler.x0 + 200, y});
  CHECK_FALSE(h.ui.view().active().range.has_value());
  drag(ruler.x0 + 100, ruler.x0 + 300);
  h.press(Key::escape);
  CHECK_FALSE(h.ui.view().active().range.has_value());
}

TEST_CASE("of the beginning of a file the window says how much is there, and never that it has no GPU work") {
  for (const bool part : {false, true}) {
    CAPTURE(part);
    const auto doc =
        test::document_from_text(R"([{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":0,"dur":9}])");
    std::const_pointer_cast<Trace>(doc->trace_owner)->is_part = part;
    if (!part) doc->diagnose();
    HeadlessUi h(doc.get(), 1600, 900, 1, /*fonts=*/true);
    std::string all;
    for (const DrawnText& text : drawn_texts(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts)) all += text.text + "\n";
    CHECK((all.find("o GPU work") == all.npos) == part);
    CHECK((all.find("GPU: loading") != all.npos) == part);
    CHECK((all.find(" so far") != all.npos) == part);
  }
}

TEST_CASE("when the rest of a file arrives, what is on the screen stays where it is") {
  std::string beginning = R"({"traceEvents": [)", rest;
  for (int lane = 1; lane <= 30; ++lane) {
    const std::string tid = std::to_string(100 + lane);
    const auto event = [&](const std::string& name, int ts) {
      return R"({"ph":"X","cat":"cpu_op","name":")" + name + R"(","pid":10,"tid":)" + tid + R"(,"ts":)" + std::to_string(ts) +
             R"(,"dur":100})";
    };
    beginning += (lane > 1 ? "," : "") + event("early " + tid, 100 * lane);
    rest += "," + event("deeper " + tid, 100 * lane + 10) + "," + event("late " + tid, 9000);
  }
  rest += R"(,{"ph":"X","cat":"cpu_op","name":"above all","pid":10,"tid":1,"ts":50,"dur":10})";
  for (const char* ts : {"60", "70"}) {
    rest += std::string(R"(,{"ph":"C","name":"queue","pid":10,"tid":1,"ts":)") + ts + R"(,"args":{"length":)" + ts + "}}";
  }
  const auto part = load_trace_from_text(beginning + "]}");
  const auto whole = load_trace_from_text(beginning + rest + "]}");
  const Document before(*part), after(*whole);
  HeadlessUi h(&before);
  h.ui.view().active().time = TimeView{{1'500'000, 2'500'000}, 0, 0};
  h.ui.view().active().scroll_px = 300;
  h.frames(2);
  const auto selected = [&](const Document& doc) {
    for (std::size_t i = 0; i < doc.trace.slice_count(); ++i) {
      if (doc.trace.name(SliceId(i)) == "early 118") return SliceId(i);
    }
    return SliceId{};
  };
  select_slice(h.ui.view().active(), selected(before), false);
  h.frames(2);
  const Span visible = time_of(h).span;
  const double scroll = h.ui.view().active().scroll_px;  // with the details below, which the selection stays in sight over
  const auto at = static_cast<float>(scroll);
  const auto [first, last] = h.ui.timeline().layout().visible(at, at + 1);
  REQUIRE(first < last);
  const Band top = h.ui.timeline().layout().bands()[first];
  const std::string key = before.trace.lane(top.lane).key;
  h.input.document = &after;
  h.input.part_before = &before;
  h.frames(1);
  h.input.part_before = nullptr;
  h.frames(2);
  CHECK(time_of(h).span == visible);
  CHECK(h.ui.view().active().selection == selected(after));
  const auto check_top = [&] {
    for (const Band& band : h.ui.timeline().layout().bands()) {
      if (!band.lane || after.trace.lane(band.lane).key != key) continue;
      CHECK(static_cast<double>(band.y) - h.ui.view().active().scroll_px ==
            doctest::Approx(static_cast<double>(top.y) - scroll));
    }
  };
  check_top();
  after.analyze();  // counters come in above the lanes
  REQUIRE(!after.counters()->empty());
  h.frames(2);
  check_top();
  const Opened other;
  h.input.document = &other.document;
  h.frames(2);
  CHECK(time_of(h).span == fit(other.document.trace.span).span);  // another file begins afresh
}

TEST_CASE("a selected slice brings the details up, a tab's own row and a pin keep the tab") {
  const auto doc = test::document_from_text(test::kOneLaunch);
  doc->diagnose();
  HeadlessUi h(doc.get());
  ViewState& view = h.ui.view();
  const auto zone = [&] {
    for (const Zone& z : h.ui.timeline().zones().all())
      if (z.kind == ZoneKind::slice && doc->trace.name(z.slice) == "aten::add") return z;
    FAIL("not on the screen");
    return Zone{};
  };
  const auto click_slice = [&] {
    h.frames(30);  // or it were a double click
    const Zone z = zone();
    h.click({z.x0 + 20, (z.y0 + z.y1) / 2});
    CHECK(view.active().selection == test::slice_named(*doc, "aten::add"));
  };
  show_panel(view.window, "kernels");
  h.frames(3);
  click_slice();
  CHECK(is_panel_shown(view.window, "details"));
  show_panel(view.window, "kernels");
  h.frames(3);
  click_slice();  // the same one again
  CHECK(is_panel_shown(view.window, "details"));
  view.window.tab_pinned = true;
  show_panel(view.window, "kernels");
  h.frames(3);
  click_slice();
  CHECK(is_panel_shown(view.window, "kernels"));
  view.window.tab_pinned = false;
  // A row of the tab itself: the steps, which need no answer of anybody.
  show_panel(view.window, "steps");
  view.active().selection = {};
  h.frames(3);
  const Box lanes = h.ui.timeline().areas().lanes;
  for (float y = lanes.y1 + 64; y < 690 && !view.active().selection; y += 8) h.click({60, y});
  CHECK(view.active().selection == test::slice_named(*doc, "ProfilerStep#1"));
  CHECK(is_panel_shown(view.window, "steps"));
  // Two clicks on the row open what it is.
  view.active().selection = {};
  for (float y = lanes.y1 + 64; y < 690 && !view.active().selection; y += 8) {
    h.frames(30);
    h.click({60, y});
  }
  CHECK(is_panel_shown(view.window, "steps"));
  h.click(h.mouse);
  CHECK(is_panel_shown(view.window, "details"));
  CHECK(view.active().selection == test::slice_named(*doc, "ProfilerStep#1"));
  // Panels that are closed stay closed.
  view.window.settings.sizes.bottom_open = false;
  h.frames(3);
  click_slice();
  CHECK_FALSE(view.window.settings.sizes.bottom_open);
}

TEST_CASE("the hints of the first run do not cover the lanes of the GPU") {
  const auto doc = test::document_from_text(test::kOneLaunch);
  for (const ImVec2 size : {ImVec2{900, 560}, ImVec2{1280, 720}, ImVec2{1600, 900}}) {
    CAPTURE(size.x);
    HeadlessUi h(doc.get(), size.x, size.y);
    h.ui.view().window.tour = {.open = true};
    for (std::size_t hint = 0; hint < 5; ++hint) {
      h.ui.view().window.tour.hint = hint;
      h.frames(4);
      const ImGuiWindow* card = ImGui::FindWindowByName("##tour");
      REQUIRE(card);
      for (const Zone& z : h.ui.timeline().zones().all())
        if (z.kind == ZoneKind::slice && is_gpu_work(doc->trace.kind(z.slice)))
          CHECK_FALSE(card->Rect().Overlaps(ImRect({z.x0, z.y0}, {z.x1, z.y1})));
    }
  }
}

TEST_CASE("the hints of the first run do not cover the tabs") {
  const auto doc = document_from_text(kOneLaunch);
  doc->diagnose();
  for (const ImVec2 size : {ImVec2{900, 560}, ImVec2{1280, 720}, ImVec2{1600, 900}})
    for (const float bottom_px : {90.0f, 170.0f, 260.0f}) {
      CAPTURE(size.x);
      CAPTURE(bottom_px);
      HeadlessUi h(doc.get(), size.x, size.y, 1, /*fonts=*/true);
      h.ui.view().window.tour = {.open = true, .hint = 1};
      h.ui.view().window.settings.sizes.bottom_px = bottom_px;
      h.frames(4);
      const ImGuiWindow* card = ImGui::FindWindowByName("##tour");
      REQUIRE(card);
      for (const PanelPlace& place : h.ui.places())
        if (std::string_view(place.name) == "drawer")
          CHECK_FALSE(card->Rect().Overlaps(ImRect({place.box.x0, place.box.y0}, {place.box.x1, place.box.y0 + 42})));
    }
}

TEST_CASE("the hints of the first run wait for the first click or key") {
  const auto doc = test::document_from_text(test::kOneLaunch);
  for (const bool clicks : {false, true}) {
    HeadlessUi h(doc.get());
    h.ui.view().window.tour = {.due = true};
    h.frames(4);
    h.press(Key::escape);
    CHECK_FALSE(h.ui.view().window.tour.open);
    clicks ? h.click({450, 300}) : h.press(Key::d);
    CHECK(h.ui.view().window.tour.open);
  }
}

TEST_CASE("Escape closes the hints of the first run, and nothing else with them") {
  const auto doc = test::document_from_text(test::kOneLaunch);
  HeadlessUi h(doc.get());
  h.ui.view().window.tour.open = true;
  h.ui.view().window.settings.tour_seen = false;
  select_slice(h.ui.view().active(), SliceId(1), false);
  h.frames(2);
  h.press(Key::escape);
  CHECK_FALSE(h.ui.view().window.tour.open);
  CHECK(h.ui.view().window.settings.tour_seen);
  CHECK(h.ui.view().active().selection == SliceId(1));
  h.press(Key::escape);
  CHECK_FALSE(h.ui.view().active().selection.valid());
}

TEST_CASE("a box for lanes or times closes when the page to open a trace comes up") {
  const auto doc = test::document_from_text(test::kOneLaunch);
  HeadlessUi h(doc.get());
  for (const BoxKind kind : {BoxKind::lanes, BoxKind::time}) {
    h.ui.view().window.box = {kind, "", 0, true};
    h.ui.view().window.start_open = true;
    h.frames(3);
    CHECK(h.ui.view().window.box.kind == BoxKind::none);
  }
}

TEST_CASE("nothing keeps the window awake once the page to open a trace is gone") {
  const auto doc = test::document_from_text(test::kOneLaunch);
  HeadlessUi h(doc.get());
  h.ui.view().window.start_open = true;
  h.ui.view().window.start.holds_keys = true;
  h.frames(3);
  CHECK(h.ui.view().window.start.has_keys);
  h.ui.view().window.start.replaced = true;  // and the trace is there before the field has taken it over
  h.ui.view().window.start_open = false;
  h.frames(2);
  CHECK_FALSE(h.ui.moving());
}

TEST_CASE("the status bar says of a crop that it is one, and not how long the recording was as if it were all here") {
  const auto doc = test::document_from_text(
      R"({"gapscopeCrop": {"from_ns": 20000, "to_ns": 60000, "of_begin_ns": 0, "of_end_ns": 900000}, "traceEvents": [
      {"ph":"X","cat":"cpu_op","name":"step","pid":1,"tid":1,"ts":0,"dur":900},
      {"ph":"X","cat":"cpu_op","name":"op","pid":1,"tid":1,"ts":20,"dur":40}]})");
  HeadlessUi h(doc.get(), 1200, 700, 1, /*fonts=*/true);
  std::string all;
  for (const DrawnText& text : drawn_texts(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts))
    if (text.box.y0 > 700 - 24) all += text.text + "\n";
  CHECK_MESSAGE(all.find("40.0 \xC2\xB5s of a recording of 900 \xC2\xB5s") != std::string::npos, all);
  CHECK(all.find(" of 900 \xC2\xB5s") == all.rfind(" of 900 \xC2\xB5s"));
}

TEST_CASE("F and Home fit what a crop was made of, and not all of the recording that a slice around it covers") {
  const auto doc = test::document_from_text(
      R"({"gapscopeCrop": {"from_ns": 20000, "to_ns": 60000, "of_begin_ns": 0, "of_end_ns": 900000}, "traceEvents": [
      {"ph":"X","cat":"cpu_op","name":"step","pid":1,"tid":1,"ts":0,"dur":900},
      {"ph":"X","cat":"cpu_op","name":"op","pid":1,"tid":1,"ts":20,"dur":40}]})");
  HeadlessUi h(doc.get());
  for (const Key key : {Key::f, Key::home}) {
    h.press(Key::s);
    h.hold(Key::s, 1);
    REQUIRE(h.ui.view().active().time.span.length() > 100'000);
    h.press(key);
    const Span seen = h.ui.view().active().time.span;
    CHECK(seen.begin <= 20'000);
    CHECK(seen.end >= 60'000);
    CHECK(seen.length() < 45'000);
  }
}

TEST_CASE("the panels below have two fifths of the height at first, and less where the lanes would keep less than half") {
  const auto doc = test::document_from_text(test::kOneLaunch);
  doc->diagnose();
  for (const ImVec2 size : {ImVec2{1600, 900}, ImVec2{900, 560}}) {
    HeadlessUi h(doc.get(), size.x, size.y, 1, /*fonts=*/true);
    show_panel(h.ui.view().window, "kernels");
    h.frames(4);
    float drawer = 0;
    for (const PanelPlace& place : h.ui.places())
      if (std::string_view(place.name) == "drawer") drawer = place.box.height();
    CHECK(std::abs(drawer - 0.4f * size.y) < 2);
  }
}

TEST_CASE("the row of tabs has six at most at first, and keeps one that was opened from elsewhere") {
  const auto doc = test::document_from_text(test::kOneLaunch);
  doc->diagnose();
  HeadlessUi h(doc.get(), 900, 560, 1, /*fonts=*/true);
  const auto in_row = [&](const char* title) {
    for (const DrawnText& text : drawn_texts(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts))
      if (text.text == title && text.box.y0 > 300) return true;
    return false;
  };
  show_panel(h.ui.view().window, "gaps");
  h.frames(4);
  for (const char* title : {"Overview", "Kernels", "Modules", "Gaps", "SQL", "More..."}) CHECK(in_row(title));
  for (const char* title : {"Compare", "Ranks", "Flame", "Roofline"}) CHECK_FALSE(in_row(title));
  // The menu of the others is whole.
  const auto place = [&](std::string_view title) {
    for (const DrawnText& text : drawn_texts(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts))
      if (text.text == title) return text.box;
    return Box{};
  };
  const Box more = place("More...");
  h.click({(more.x0 + more.x1) / 2, (more.y0 + more.y1) / 2});
  h.frames(4);
  for (const char* title : {"Compare", "Ranks", "Report"}) {
    CHECK(place(title).y1 > 0);
    CHECK(place(title).y0 > 0);
    CHECK(place(title).y1 < 560);
  }
  h.click({450, 20});
  h.frames(4);
  show_panel(h.ui.view().window, "flame");
  h.frames(4);
  CHECK(in_row("Flame"));
  show_panel(h.ui.view().window, "kernels");
  h.frames(4);
  CHECK(in_row("Flame"));
}

TEST_CASE("a click on a tab opens it in a low window, too, whether or not it has anything to show") {
  const auto doc = test::document_from_text(test::kOneLaunch);
  doc->diagnose();
  HeadlessUi h(doc.get(), 1100, 560, 1, /*fonts=*/true);
  const auto drawer = [&] {
    for (const PanelPlace& place : h.ui.places())
      if (std::string_view(place.name) == "drawer") return place.box.height();
    return 0.0f;
  };
  const float tabs = drawer();
  REQUIRE(tabs < 60);
  for (const DrawnText& text : drawn_texts(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts)) {
    if (text.text != "Modules" || text.box.y0 < 560 - 24 - tabs) continue;
    h.click({(text.box.x0 + text.box.x1) / 2, (text.box.y0 + text.box.y1) / 2});
    break;
  }
  h.frames(60);  // a second click might have followed
  CHECK(is_panel_shown(h.ui.view().window, "modules"));
  CHECK(drawer() > 100);
}

TEST_CASE("in a narrow window the findings are a tab, in front at first, which a finding brings up and a slice does not take") {
  const Document document(load_once(recording("transformer_baseline")));
  document.diagnose();
  HeadlessUi h(&document, 900, 560, 1, /*fonts=*/true);
  h.frames(4);
  TraceView& view = h.ui.view().active();
  WindowState& window = h.ui.view().window;
  const auto text = [&](std::string_view words) {
    for (const DrawnText& drawn : drawn_texts(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts))
      if (drawn.text.starts_with(words)) return std::optional(drawn.box);
    return std::optional<Box>();
  };
  const auto has_place = [&](std::string_view name) {
    return std::any_of(h.ui.places().begin(), h.ui.places().end(), [&](const PanelPlace& p) { return p.name == name; });
  };
  CHECK(is_panel_shown(window, "answer"));
  CHECK_FALSE(has_place("findings"));
  CHECK(h.ui.timeline().areas().lanes.x1 > 880);
  REQUIRE(text("The remedy saves"));
  const std::optional<Box> first = text("Answer"), second = text("Overview");
  REQUIRE((first && second));
  CHECK(first->x0 < second->x0);

  select_slice(view, SliceId(0), /*reveal=*/false);
  h.frames(3);
  CHECK(is_panel_shown(window, "details"));
  h.press(Key::n);
  h.frames(3);
  CHECK(view.finding.chosen >= 0);
  CHECK(is_panel_shown(window, "answer"));
  h.press(Key::b);
  h.frames(2);
  CHECK_FALSE(window.settings.sizes.bottom_open);
  h.press(Key::b);
  h.frames(2);
  CHECK(is_panel_shown(window, "answer"));
  show_panel(window, "overview");  // what was asked for stays
  h.frames(2);
  CHECK(is_panel_shown(window, "overview"));

  HeadlessUi wide(&document, 1100, 560, 1, /*fonts=*/true);
  wide.frames(4);
  CHECK(is_panel_shown(wide.ui.view().window, "overview"));
  CHECK(std::any_of(wide.ui.places().begin(), wide.ui.places().end(),
                    [](const PanelPlace& p) { return std::string_view(p.name) == "findings"; }));
}

TEST_CASE("a tab looks open only while its page is in sight") {
  const auto doc = document_from_text(kOneLaunch);
  doc->diagnose();
  HeadlessUi h(doc.get(), 900, 560, 1, /*fonts=*/true);
  const auto ground = [&](std::string_view title) {
    for (const DrawnText& text : drawn_texts(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts, /*with_grounds=*/true))
      if (text.text == title && text.box.y0 > h.ui.timeline().areas().lanes.y1) return text.ground;
    FAIL("no such tab");
    return Rgb{};
  };
  CHECK(ground("Overview") == ground("Kernels"));  // the tabs alone
  show_panel(h.ui.view().window, "overview");
  h.frames(3);
  CHECK(ground("Overview") != ground("Kernels"));
}

TEST_CASE("the overview is open for a trace without any launch, too") {
  const auto doc = test::document_from_text(
      R"([{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":5,"args":{"device":0,"stream":7}}])");
  doc->diagnose();
  HeadlessUi h(doc.get(), 1200, 900);
  show_panel(h.ui.view().window, "overview");
  h.ui.view().window.tab_wanted = false;  // it was not asked for: it is what a new file opens on
  h.frames(3);
  CHECK(h.ui.timeline().areas().lanes.y1 < 900 - 150);
}

TEST_CASE("in a narrow window nothing of the top bar lies over anything else, and / leaves the keys to the window") {
  const Opened opened;
  opened.document.diagnose();
  for (const float width : {260.0f, 400.0f, 520.0f, 640.0f, 900.0f}) {
    CAPTURE(width);
    HeadlessUi h(&opened.document, width, 300, 1, /*fonts=*/true);
    h.frames(3);
    std::vector<Box> texts;
    for (const DrawnText& text : drawn_texts(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts))
      if (text.box.y1 <= 40) texts.push_back(text.box);
    CHECK(texts.size() >= 4);  // the menus
    std::sort(texts.begin(), texts.end(), [](const Box& a, const Box& b) { return a.x0 < b.x0; });
    for (std::size_t i = 1; i < texts.size(); ++i) CHECK(texts[i - 1].x1 < texts[i].x0 + 2);
    if (width > 260) continue;
    h.press(Key::slash);
    h.frames(8);
    CHECK_FALSE(h.ui.view().active().search.wants_keys);
    const bool open = h.ui.view().window.settings.sizes.bottom_open;
    h.press(Key::q);
    h.frames(2);
    CHECK(h.ui.view().window.settings.sizes.bottom_open != open);
  }
}

TEST_CASE("the drawer leaves the GPUs their rows below overview, ruler and the flags of notes") {
  const Document document(load_once(test::recording("fsdp_rank0")));
  document.diagnose();
  std::size_t tight = 0;
  for (float height = 300; height <= 560; height += 20) {
    CAPTURE(height);
    test::HeadlessUi h(&document, 900, height);
    h.ui.view().active().notes.notes.push_back({document.trace.span, "here"});
    select_slice(h.ui.view().active(), SliceId(0), /*reveal=*/false);
    h.frames(6);
    const auto drawer = std::find_if(h.ui.places().begin(), h.ui.places().end(),
                                     [](const PanelPlace& place) { return std::string(place.name) == "drawer"; });
    REQUIRE(drawer != h.ui.places().end());
    if (drawer->box.height() < 50) continue;  // its tabs alone
    const float gpus = h.ui.timeline().least_height(true) - kTimelineOverview - ruler_height(true);
    const float lanes = h.ui.timeline().areas().lanes.height();
    CHECK(lanes >= gpus);
    tight += lanes < gpus + kTimelineOverview + kTimelineFlags;
  }
  CHECK(tight > 0);
}
