// Marking an area with the pointer and keys, and the tabs that show what is in it.
#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <string>

#include <imgui.h>

#include "core/view/flame/flame_model.h"
#include "core/view/selection/area_model.h"
#include "core/view/timeline/time_view.h"
#include "tests/support/headless_ui.h"
#include "tests/support/panel_harness.h"
#include "tests/support/tiny_traces.h"
#include "ui/panels.h"
#include "ui/widgets/drawn_text.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

void answer(Requests& out) {
  for (const Request& request : out.list)
    if (const auto* ask = std::get_if<Ask>(&request)) answer_now(*ask->document, ask->question);
  out.list.clear();
}

struct Desk {
  explicit Desk(std::string_view text = kOneLaunch, float width = 1200, float height = 900)
      : doc(document_from_text(text)), h(doc.get(), width, height, 1, /*fonts=*/true) {
    view().window.tour = {};
  }
  std::shared_ptr<const Document> doc;
  HeadlessUi h;

  ViewState& view() { return h.ui.view(); }
  const Box& lanes() const { return h.ui.timeline().areas().lanes; }
  Zone zone_of(std::string_view name) const {
    for (const Zone& zone : h.ui.timeline().zones().all())
      if (zone.slice && (zone.kind == ZoneKind::slice || zone.kind == ZoneKind::run) && doc->trace.name(zone.slice) == name)
        return zone;
    FAIL("not on the screen");
    return {};
  }
  void drag(ImVec2 from, ImVec2 to) {
    h.move_to(from);
    h.button = true;
    h.frame();
    for (const float part : {0.3f, 0.7f, 1.0f}) {
      h.mouse = {from.x + (to.x - from.x) * part, from.y + (to.y - from.y) * part};
      h.frame();
    }
    h.button = false;
    h.frames(2);
  }
  Span marked() {
    const Area* area = marked_area(view().active());
    REQUIRE(area);
    return area->span;
  }
};

}  // namespace

TEST_CASE("a drag over a lane marks an area that snaps to slice edges, and the table counts what is in it") {
  Desk desk;
  const Zone op = desk.zone_of("aten::add");
  const float y = (op.y0 + op.y1) / 2;
  desk.drag({op.x0 - 4, y}, {op.x1 + 4, y});
  const SliceId add = slice_named(*desk.doc, "aten::add");
  CHECK(desk.marked() == desk.doc->trace.span_of(add));
  CHECK(desk.view().active().range == desk.doc->trace.span_of(add));
  CHECK(marked_area(desk.view().active())->lanes == std::vector<LaneId>{desk.doc->trace.lane_id(add)});
  CHECK(is_panel_shown(desk.view().window, "selection"));
  desk.h.out.list.clear();
  asked<AreaQuestion>(*desk.doc).forget();
  desk.h.frame();
  answer(desk.h.out);
  REQUIRE(answer_to<AreaQuestion>(*desk.doc));
  CHECK(answer_to<AreaQuestion>(*desk.doc)->slices == 2);       // the operator, its launch
  CHECK(answer_to<AreaQuestion>(*desk.doc)->annotations == 1);  // the step
  desk.h.press(Key::escape);
  CHECK(marked_area(desk.view().active()) == nullptr);
  CHECK_FALSE(desk.view().active().range.has_value());
}

namespace {

// A thread with an operator of its own name for each.
std::string threads(int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += (i > 0 ? "," : "[") + std::string(R"({"ph": "X", "cat": "cpu_op", "name": "op )") + std::to_string(i) +
            R"(", "pid": 1, "tid": )" + std::to_string(i + 1) + R"(, "ts": 100, "dur": 400})";
  return text + "]";
}

}  // namespace

TEST_CASE("what is marked or selected near the bottom stays in sight over the panel that comes up, and nothing moves further") {
  for (const bool marks : {true, false}) {
    CAPTURE(marks);
    Desk desk(threads(30), 1100, 560);
    TraceView& view = desk.view().active();
    desk.h.frames(3);
    const float height = desk.lanes().height();
    Zone low;
    for (const Zone& zone : desk.h.ui.timeline().zones().all())
      if (zone.slice && zone.y1 <= desk.lanes().y1 && zone.y1 > low.y1) low = zone;
    REQUIRE(low.slice);
    const ImVec2 at{(low.x0 + low.x1) / 2, (low.y0 + low.y1) / 2};
    if (marks)
      desk.drag({at.x - 50, at.y}, {at.x + 50, at.y});
    else
      desk.h.click(at);
    desk.h.frames(60);  // a second click might have followed
    REQUIRE(is_panel_shown(desk.view().window, marks ? "selection" : "details"));
    REQUIRE(desk.lanes().height() < height - 100);
    const TimelinePanel& timeline = desk.h.ui.timeline();
    const Band* band = timeline.layout().band_of(desk.doc->trace.lane_id(low.slice));
    REQUIRE(band);
    CHECK(timeline.window().window_y(band->y) >= desk.lanes().y0);
    if (marks) CHECK(std::abs(timeline.window().window_bottom(band->bottom()) - desk.lanes().y1) <= 1);
    CHECK(desk.zone_of(desk.doc->trace.name(low.slice)).y1 <= desk.lanes().y1);
    const double scroll = view.scroll_px;
    REQUIRE(scroll > 0);
  }
}

TEST_CASE("what was scrolled out of sight is not brought back by a panel that comes up") {
  Desk desk(threads(30), 900, 560);
  TraceView& view = desk.view().active();
  select_slice(view, slice_named(*desk.doc, "op 29"), /*reveal=*/false);
  desk.view().window.settings.sizes.bottom_open = false;
  desk.h.frames(3);
  desk.view().window.settings.sizes.bottom_open = true;
  show_panel(desk.view().window, "details");
  desk.h.frames(3);
  CHECK(view.scroll_px == 0);
}

TEST_CASE("with Alt held the edges stay where the pointer is") {
  Desk desk;
  const Zone op = desk.zone_of("aten::add");
  const float y = (op.y0 + op.y1) / 2;
  desk.h.alt = true;
  desk.drag({op.x0 - 4, y}, {op.x1 + 4, y});
  const SliceId add = slice_named(*desk.doc, "aten::add");
  CHECK(desk.marked().begin < desk.doc->trace.begin(add));
  CHECK(desk.marked().end > desk.doc->trace.end(add));
}

TEST_CASE("a press that hardly moves is a click and marks nothing") {
  Desk desk;
  const Zone op = desk.zone_of("aten::add");
  desk.drag({op.x0 + 10, op.y0 + 5}, {op.x0 + 12, op.y0 + 5});
  CHECK(marked_area(desk.view().active()) == nullptr);
  CHECK(desk.view().active().selection == slice_named(*desk.doc, "aten::add"));
}

TEST_CASE("a drag that begins on a process header marks the lanes that it crosses, and on the header alone nothing") {
  Desk desk;
  const auto header = [&] {
    for (const Zone& zone : desk.h.ui.timeline().zones().all())
      if (zone.kind == ZoneKind::process_title && !desk.doc->trace.processes[zone.process.index()].is_gpu)
        return (zone.y0 + zone.y1) / 2;
    FAIL("not on the screen");
    return 0.0f;
  }();
  const float x = desk.lanes().x0 + 100;
  desk.drag({x, header}, {x + 300, header + 3});
  CHECK_FALSE(desk.view().active().range);
  const Zone kernel = desk.zone_of("first");
  desk.drag({x, header}, {x + 300, (kernel.y0 + kernel.y1) / 2});
  const Area* area = marked_area(desk.view().active());
  REQUIRE(area);
  CHECK(area->lanes == std::vector<LaneId>{desk.doc->trace.lane_id(kernel.slice)});
}

TEST_CASE("an edge of the area can be dragged, in time and over lanes") {
  Desk desk;
  const Zone op = desk.zone_of("aten::add");
  const float y = (op.y0 + op.y1) / 2;
  desk.drag({op.x0 + 2, y}, {op.x1 - 2, y});
  const Span before = desk.marked();
  desk.drag({op.x1, y}, {op.x1 + 200, y});
  CHECK(desk.marked().begin == before.begin);
  CHECK(desk.marked().end > before.end);
  const LaneId gpu = desk.doc->trace.lane_id(slice_named(*desk.doc, "first"));
  CHECK_FALSE(marked_area(desk.view().active())->has(gpu));
  const Span wide = desk.marked();
  const LaneLayout& layout = desk.h.ui.timeline().layout();
  const Band* cpu = layout.band_of(marked_area(desk.view().active())->lanes.front());
  const float bottom = desk.lanes().y0 + cpu->bottom();
  desk.drag({op.x0 + 50, bottom}, {op.x0 + 50, desk.lanes().y0 + layout.band_of(gpu)->y + 10});
  CHECK(marked_area(desk.view().active())->has(gpu));
  CHECK(desk.marked() == wide);
}

TEST_CASE("Shift and drag pan as before") {
  Desk desk;
  desk.h.move_to({desk.lanes().x0 + 300, desk.lanes().y0 + 60});
  desk.h.hold(Key::w, 0.4);
  const Ns before = desk.view().active().time.span.begin;
  desk.h.shift = true;
  desk.drag({desk.lanes().x0 + 300, desk.lanes().y0 + 60}, {desk.lanes().x0 + 200, desk.lanes().y0 + 60});
  CHECK(marked_area(desk.view().active()) == nullptr);
  CHECK(desk.view().active().time.span.begin > before);
}

TEST_CASE("R marks the selected slice, Ctrl+A its lane or everything") {
  Desk desk;
  desk.h.press(Key::a, kCtrl);
  CHECK(*marked_area(desk.view().active()) == whole_area(desk.doc->trace));
  const SliceId kernel = slice_named(*desk.doc, "first");
  select_slice(desk.view().active(), kernel, false);
  desk.h.press(Key::r);
  CHECK(desk.marked() == desk.doc->trace.span_of(kernel));
  desk.h.press(Key::a, kCtrl);
  CHECK(marked_area(desk.view().active())->lanes == std::vector<LaneId>{desk.doc->trace.lane_id(kernel)});
  CHECK(desk.marked() == desk.doc->trace.span);
}

TEST_CASE("a click on a slice goes back to the details that the selection took the place of") {
  Desk desk;
  desk.h.press(Key::a, kCtrl);
  CHECK(is_panel_shown(desk.view().window, "selection"));
  const Zone op = desk.zone_of("aten::add");
  desk.h.click({op.x0 + 20, (op.y0 + op.y1) / 2});
  CHECK(is_panel_shown(desk.view().window, "details"));
}

namespace {

struct Tab {
  explicit Tab(DrawPanel panel) : draw(panel) {}
  std::shared_ptr<const Document> doc = document_from_text(kOneLaunch);
  ViewState view;
  Requests out;
  PanelHarness harness{{1600, 600}};
  DrawPanel draw;
  std::string frame() {
    return harness.settle([this] { step(); });
  }
  void step() {
    draw(*doc, view.active(), view.window, out);
    answer(out);
  }
};

}  // namespace

TEST_CASE("without an area the selection says how to mark one") {
  Tab tab(draw_selection);
  CHECK(holds(tab.frame(), "Drag over the lanes"));
}

TEST_CASE("the selection shows figures and rows, and a click on a row selects its slice") {
  Tab tab(draw_selection);
  mark_area(tab.view.active(), whole_area(tab.doc->trace));
  const std::string text = tab.frame();
  for (const char* part : {"900 µs", "9", "slices", "GPU busy", "idle", "5", "gaps", "longest", "aten::add", "cudaGraphLaunch",
                           "Times are cut at the edges of the area."}) {
    CAPTURE(part);
    CHECK(holds(text, part));
  }
  const auto draw = [&] {
    if (!tab.view.active().range) mark_area(tab.view.active(), whole_area(tab.doc->trace));  // one of the clicks hits "Clear"
    tab.step();
  };
  CHECK(tab.harness.click_around(draw, [&] { return tab.view.active().selection.valid(); }));
  CHECK(tab.view.active().cycle.position(tab.view.active().selection) == 1);
}

TEST_CASE("the selection's figures continue in the next line where the first is full") {
  for (const float width : {560.0f, 700.0f, 900.0f}) {
    CAPTURE(width);
    Desk desk(kOneLaunch, width, 560);
    mark_area(desk.view().active(), whole_area(desk.doc->trace));
    show_panel(desk.view().window, "selection");
    for (int i = 0; i < 4; ++i) {
      desk.h.frame();
      answer(desk.h.out);
    }
    std::set<std::string> whole;
    for (const DrawnText& text : drawn_texts(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts))
      if (!text.clipped && text.box.y0 > desk.lanes().y1) whole.insert(text.text);
    for (const char* words : {"900 \xC2\xB5s", "slices", "GPU busy", "gaps", "longest 686 \xC2\xB5s"}) {
      CAPTURE(words);
      CHECK(whole.contains(words));
    }
  }
}

TEST_CASE("by lane the selection has a row for each lane") {
  Tab tab(draw_selection);
  mark_area(tab.view.active(), whole_area(tab.doc->trace));
  tab.view.active().area.table = AreaTable::lane;
  CHECK(holds(tab.frame(), "stream 7"));
}

TEST_CASE("a click on a box of the flame graph zooms into it, and another place says so") {
  Tab tab(draw_flame);
  CHECK(holds(tab.frame(), "The whole trace."));
  REQUIRE(answer_to<FlameQuestion>(*tab.doc));
  REQUIRE_FALSE(tab.view.active().flame.arranged.boxes.empty());
  const auto draw = [&] {
    tab.view.active().flame.time = PathTime::cpu;  // one of the clicks hits another time
    tab.step();
  };
  CHECK(tab.harness.click_around(draw, [&] { return tab.view.active().flame.zoom != 0; }));
  CHECK(holds(tab.frame(), "All"));
}

TEST_CASE("the flame graph by module has a box for each module, or says what to record") {
  Tab tab(draw_flame);
  tab.view.active().flame.time = PathTime::module;
  CHECK(holds(tab.frame(), "with_modules=True"));
  const auto doc = document_from_text(R"([
{"ph": "X", "cat": "python_function", "name": "nn.Module: Net_0", "pid": 1, "tid": 1, "ts": 100, "dur": 800},
{"ph": "X", "cat": "python_function", "name": "nn.Module: Linear_0", "pid": 1, "tid": 1, "ts": 200, "dur": 300},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 250, "dur": 10, "args": {"correlation": 1}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 300, "dur": 100, "args": {"device": 0, "stream": 7, "correlation": 1}}
])");
  const auto answered = answer(*doc, FlameQuestion{whole_area(doc->trace), PathTime::module}, nullptr);
  REQUIRE(answered->paths.size() == 3);
  CHECK(path_name(doc->trace, answered->paths, 2) == "nn.Module: Linear_0");
  CHECK(answered->paths.own[2] == 100'000);
  CHECK(answered->paths.total[0] == 100'000);
}

TEST_CASE("the flame graph of a marked range of GPU lanes is of the GPU's time") {
  Tab tab(draw_flame);
  const Trace& trace = tab.doc->trace;
  Area area{trace.span, {}};
  for (std::size_t l = 0; l < trace.lanes.size(); ++l)
    if (trace.lanes[l].kind == LaneKind::gpu_stream) area.lanes.push_back(LaneId(l));
  REQUIRE_FALSE(area.lanes.empty());
  mark_area(tab.view.active(), area);
  CHECK(tab.view.active().flame.time == PathTime::cpu);
  tab.frame();
  CHECK_FALSE(holds(tab.frame(), "This area has no slice of a CPU thread"));
  CHECK(tab.view.active().flame.time == PathTime::gpu);
}

TEST_CASE("the flame graph of a time without GPU work says so") {
  Tab tab(draw_flame);
  tab.view.active().flame.time = PathTime::gpu;
  CHECK_FALSE(holds(tab.frame(), "No GPU work"));
  tab.view.active().range = Span{500'000, 600'000};
  CHECK(holds(tab.frame(), "No GPU work runs here in this time."));
}

TEST_CASE("Esc leaves the zoom of the flame graph before it takes anything else away") {
  Desk desk;
  desk.h.press(Key::a, kCtrl);
  show_panel(desk.view().window, "flame");
  desk.h.out.list.clear();
  asked<FlameQuestion>(*desk.doc).forget();
  desk.h.frame();
  answer(desk.h.out);
  desk.h.frames(2);
  desk.view().active().flame.zoom = 2;
  desk.h.press(Key::escape);
  CHECK(desk.view().active().flame.zoom == 0);
  CHECK(marked_area(desk.view().active()));
  desk.h.press(Key::escape);
  CHECK(marked_area(desk.view().active()) == nullptr);
}
