// Two timelines on one axis, and the tab that says what changed.
#include <doctest/doctest.h>

#include <optional>

#include "core/replay/plain_program.h"
#include "core/view/compare/compare_headline.h"
#include "core/view/compare/compare_model.h"
#include "core/view/findings/findings_model.h"
#include "core/view/timeline/time_view.h"
#include "tests/support/headless_ui.h"
#include "tests/support/panel_harness.h"
#include "tests/support/real_traces.h"
#include "tests/support/stand_in.h"
#include "tests/support/tiny_traces.h"
#include "tests/support/two_traces.h"
#include "ui/commands.h"
#include "ui/compare/compare_view.h"
#include "ui/panels.h"
#include "ui/start/path_completion.h"
#include "ui/widgets/drawn_text.h"

using namespace gapscope;
using test::holds;

namespace {

// The window with both traces, compared, as the session would do it.
struct Window {
  std::shared_ptr<const Document> a = test::document_from_text(test::kBefore), b = test::document_from_text(test::kAfter);
  test::HeadlessUi h{a.get(), 1400, 1300};  // all lanes of both alongside an open drawer

  Window() {
    a->diagnose();
    b->diagnose();
    h.input.second = b.get();
    run(3);
    open_lanes();
  }
  void open_lanes() {
    set_all_lanes(view().active().folds, false);
    run(2);
  }
  void run(int frames) {
    for (int i = 0; i < frames; ++i) {
      h.frame();
      answer();
    }
  }
  void answer() {
    for (const Request& request : h.out.list) {
      if (const auto* ask = std::get_if<MakeComparison>(&request); ask && h.input.second)
        view().window.compare.answer = answer_comparison(*h.input.document, *h.input.second, ask->options);
    }
    if (view().window.compare.side == TraceSide::a || h.input.second) test::answer(h.out, *h.ui.document(), view());
  }
  ViewState& view() { return h.ui.view(); }
  const TimelinePanel& timeline(TraceSide side) { return side == TraceSide::a ? h.ui.timeline_a() : h.ui.compare().timeline(); }
  const Document& document(TraceSide side) { return side == TraceSide::a ? *a : *b; }
  const TraceView& view_of(TraceSide side) { return view().of(side); }

  std::optional<Zone> zone(TraceSide side, std::string_view name) {
    for (const Zone& zone : timeline(side).zones().all())
      if (zone.kind == ZoneKind::slice && document(side).trace.name(zone.slice) == name) return zone;
    return std::nullopt;
  }
  ImVec2 middle(TraceSide side, std::string_view name) {
    const std::optional<Zone> z = zone(side, name);
    REQUIRE_MESSAGE(z, name);
    return {(z->x0 + z->x1) / 2, (z->y0 + z->y1) / 2};
  }
  ImVec2 inside(TraceSide side) {
    const Box& lanes = timeline(side).window().rest;
    return {lanes.x0 + lanes.width() * 0.7f, lanes.y1 - 4};
  }
  // What both show, as time since the begin of their steps.
  void check_linked() {
    const Alignment at = h.ui.compare().alignment();
    const TimeView &of_a = view_of(TraceSide::a).time, &of_b = view_of(TraceSide::b).time;
    CHECK(of_a.span.begin - at.zero_a == of_b.span.begin - at.zero_b);
    CHECK(of_a.span.length() == of_b.span.length());
    CHECK(of_a.begin_rest_ns == of_b.begin_rest_ns);
  }
};

}  // namespace

TEST_CASE("the steps of both traces begin at the same x, and both are in sight") {
  Window w;
  const std::optional<Zone> a = w.zone(TraceSide::a, "ProfilerStep#2"), b = w.zone(TraceSide::b, "ProfilerStep#2");
  REQUIRE(a);
  REQUIRE(b);
  CHECK(a->x0 == b->x0);
  CHECK((b->x1 - b->x0) / (a->x1 - a->x0) == doctest::Approx(600.0 / 900).epsilon(0.01));
  CHECK(a->y1 < b->y0);
  CHECK(a->x0 > w.timeline(TraceSide::a).areas().lanes.x0);
  CHECK(a->x1 < w.timeline(TraceSide::a).areas().lanes.x1);
  w.check_linked();
}

TEST_CASE("a zoom or pan of either timeline moves both within the frame") {
  Window w;
  for (const TraceSide side : {TraceSide::a, TraceSide::b}) {
    w.h.move_to(w.inside(side));
    const Ns before = w.view_of(TraceSide::b).time.span.length();
    w.h.ctrl = true;
    w.h.wheel = 1;
    w.h.frame();
    w.check_linked();
    w.h.ctrl = false;
    w.run(30);
    CHECK(w.view_of(TraceSide::b).time.span.length() < before);
    const Ns begin = w.view_of(TraceSide::a).time.span.begin;
    w.h.hold(Key::d, 0.2);
    w.check_linked();
    w.run(30);
    CHECK(w.view_of(TraceSide::a).time.span.begin > begin);
    CHECK(w.zone(TraceSide::a, "ProfilerStep#2").has_value());
    CHECK_FALSE(w.h.ui.moving());
  }
}

TEST_CASE("the axis reaches over all of both traces") {
  Window w;
  w.h.press(Key::home);
  w.run(2);
  w.check_linked();
  CHECK(w.view_of(TraceSide::b).time.span.begin <= w.b->trace.span.begin);
  CHECK(w.view_of(TraceSide::a).time.span.end >= w.a->trace.span.end);
  CHECK(w.zone(TraceSide::b, "warm_up").has_value());
}

TEST_CASE("a click acts on its timeline: its slice is selected, panels are about it, and the match in the other is known") {
  Window w;
  w.h.out.list.clear();
  w.h.click(w.middle(TraceSide::b, "aten::mm"));
  CHECK(w.view().window.compare.side == TraceSide::b);
  CHECK(w.h.ui.document() == w.b.get());
  CHECK(w.b->trace.name(w.view().active().selection) == "aten::mm");
  const auto acted =
      std::find_if(w.h.out.list.begin(), w.h.out.list.end(), [](const Request& r) { return std::holds_alternative<ActOn>(r); });
  REQUIRE(acted != w.h.out.list.end());
  CHECK(std::get<ActOn>(*acted).side == TraceSide::b);
  w.run(2);
  const TraceView& a = w.view_of(TraceSide::a);
  CHECK_FALSE(a.selection);
  REQUIRE(a.linked);
  CHECK(a.linked->match == test::slice_named(*w.a, "aten::mm"));

  w.h.click(w.middle(TraceSide::a, "aten::add"));
  w.run(2);
  CHECK(w.view().window.compare.side == TraceSide::a);
  CHECK(w.a->trace.name(w.view().active().selection) == "aten::add");
  CHECK(w.b->trace.name(w.view_of(TraceSide::b).selection) == "aten::mm");
  CHECK_FALSE(w.view_of(TraceSide::b).linked->match);
}

TEST_CASE("a fresh start turns back to A, and says so") {
  Window w;
  w.h.click(w.middle(TraceSide::b, "aten::mm"));
  REQUIRE(w.view().window.compare.side == TraceSide::b);
  w.h.out.list.clear();
  w.h.out.add(StartFresh{});
  w.h.frame();
  CHECK(w.view().window.compare.side == TraceSide::a);
  const auto acted =
      std::find_if(w.h.out.list.begin(), w.h.out.list.end(), [](const Request& r) { return std::holds_alternative<ActOn>(r); });
  REQUIRE(acted != w.h.out.list.end());
  CHECK(std::get<ActOn>(*acted).side == TraceSide::a);
}

TEST_CASE("a command's key acts on the timeline under the pointer, and X on the other one") {
  Window w;
  w.h.click(w.middle(TraceSide::b, "aten::mm"));
  w.h.click(w.middle(TraceSide::a, "aten::mm"));
  w.h.move_to(w.inside(TraceSide::b));
  w.h.press(Key::escape);
  w.run(1);
  CHECK(w.view().window.compare.side == TraceSide::b);
  CHECK_FALSE(w.view_of(TraceSide::b).selection);
  CHECK(w.view_of(TraceSide::a).selection);
  w.h.move_to({2, 2});
  w.h.press(Key::x);
  w.run(1);
  CHECK(w.view().window.compare.side == TraceSide::a);
}

TEST_CASE("what is folded or pinned in the one is so in the other") {
  for (const TraceSide side : {TraceSide::a, TraceSide::b}) {
    Window w;
    w.h.click(w.middle(side, "aten::mm"));
    CommandScope scope{w.h.ui.document(), w.view().active(), w.view().window, w.h.out};
    run_command(CommandId::collapse_all, scope);
    w.run(2);
    for (const TraceSide of : {TraceSide::a, TraceSide::b}) CHECK_FALSE(w.zone(of, "aten::mm"));
    run_command(CommandId::collapse_all, scope);
    const LaneId thread = w.document(side).trace.lane_id(w.view().active().selection);
    w.open_lanes();
    set_pinned(w.view().active().folds, thread, true);
    w.run(2);
    for (const TraceSide of : {TraceSide::a, TraceSide::b}) CHECK(w.timeline(of).layout().pinned_count() == 1);
  }
}

TEST_CASE("the GPUs of both lie under each other below one ruler, the threads of both below them, folded at first") {
  Window w;
  w.view().active().folds.process_collapsed = {};
  CHECK(is_panel_shown(w.view().window, "compare"));
  w.h.ui.adopt(w.a.get(), nullptr);
  CHECK(is_panel_shown(w.view().window, "overview"));  // the tab has nothing to show any more
  w.h.input.second = nullptr;
  w.run(2);
  REQUIRE(w.zone(TraceSide::a, "aten::mm"));
  w.h.input.second = w.b.get();
  w.run(4);
  const LaneWindow &a = w.timeline(TraceSide::a).window(), &b = w.timeline(TraceSide::b).window();
  const std::optional<Zone> of_a = w.zone(TraceSide::a, "my_gemm"), of_b = w.zone(TraceSide::b, "my_gemm");
  REQUIRE(of_a);
  REQUIRE(of_b);
  CHECK(w.h.ui.compare().places().ruler.y1 < of_a->y0);
  CHECK(of_a->y1 < of_b->y0);
  CHECK(a.top.y1 <= b.top.y0);
  CHECK(b.top.y1 <= a.rest.y0);
  CHECK(a.rest.y1 <= b.rest.y0);
  CHECK_FALSE(w.zone(TraceSide::a, "aten::mm"));
  CHECK_FALSE(w.zone(TraceSide::b, "aten::mm"));
  std::size_t overviews = 0, rulers = 0;
  for (const PanelPlace& place : w.h.ui.places()) {
    overviews += std::string_view(place.name) == "overview";
    rulers += std::string_view(place.name) == "ruler";
  }
  CHECK(overviews == 1);
  CHECK(rulers == 1);
  CHECK(is_panel_shown(w.view().window, "compare"));

  w.h.input.second = nullptr;
  w.run(2);
  CHECK(w.zone(TraceSide::a, "aten::mm"));  // alone its threads are open as before
}

TEST_CASE("counters stand under their own trace's GPU, and in a low window they scroll there") {
  const auto load = [](const char* name) {
    auto document = std::make_shared<Document>(test::load_once(test::recording(name)));
    document->diagnose();
    return document;
  };
  const std::shared_ptr<const Document> a = load("transformer_baseline"), b = load("transformer_optimized");
  for (const ImVec2 size : {ImVec2{1600, 900}, ImVec2{900, 560}}) {
    CAPTURE(size.y);
    test::HeadlessUi h(a.get(), size.x, size.y, 1, /*fonts=*/true);
    h.input.second = b.get();
    h.frames(8);
    for (const TimelinePanel* timeline : {&h.ui.timeline_a(), &h.ui.compare().timeline()}) {
      const LaneWindow& at = timeline->window();
      std::size_t counters = 0;
      for (const Band& band : timeline->layout().bands()) {
        if (band.kind != BandKind::counter ||
            !(timeline == &h.ui.timeline_a() ? a : b)->trace.processes[band.process.index()].is_gpu)
          continue;
        ++counters;
        CHECK(at.is_top(band.y));
        if (size.y > 800) CHECK(at.window_bottom(band.bottom()) <= at.top.y1);
      }
      CHECK(counters >= 4);
    }
    std::string all;
    for (const DrawnText& text : drawn_texts(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts)) all += text.text + "\n";
    for (const char* busy : {"GPU busy 8.6 %", "GPU busy 66.2 %"}) CHECK(holds(all, busy));
  }
}

TEST_CASE("a time marked in the ruler is marked in both, and given up in both") {
  Window w;
  const Box ruler = w.h.ui.compare().places().ruler;
  const Box& lanes = w.timeline(TraceSide::a).window().top;
  w.h.move_to({lanes.x0 + 200, ruler.y0 + 10});
  w.h.button = true;
  w.h.frame();
  w.h.move_to({lanes.x0 + 400, ruler.y0 + 10});
  w.h.button = false;
  w.run(2);
  REQUIRE(w.view_of(TraceSide::a).range);
  REQUIRE(w.view_of(TraceSide::b).range);
  CHECK(w.view_of(TraceSide::b).range->begin - w.view_of(TraceSide::a).range->begin == w.h.ui.compare().alignment().way());
  CHECK(w.view_of(TraceSide::b).range->length() == w.view_of(TraceSide::a).range->length());
  w.h.press(Key::escape);
  w.run(2);
  CHECK_FALSE(w.view_of(TraceSide::a).range);
  CHECK_FALSE(w.view_of(TraceSide::b).range);
}

TEST_CASE("what is searched for in the one is searched for in the other") {
  Window w;
  w.view().active().search.typed.text = "mm";
  w.run(2);
  const TraceView& b = w.view_of(TraceSide::b);
  CHECK(b.search.typed.text == "mm");
  const std::shared_ptr<const SearchAnswer> found = answer_to<SearchQuestion>(*w.b);
  REQUIRE(found);
  CHECK(found->is_hit.has(test::slice_named(*w.b, "aten::mm")));
  CHECK(w.view().window.compare.hits_of_other == found->hits.size());
  w.view().active().search.typed.text = "";
  w.h.frame();
  CHECK_FALSE(answer_to<SearchQuestion>(*w.b));
  CHECK_FALSE(w.view().window.compare.hits_of_other);
}

TEST_CASE("swapped traces keep what was selected, and their steps stay where they were") {
  Window w;
  w.h.click(w.middle(TraceSide::b, "aten::mm"));
  const float x = w.zone(TraceSide::a, "ProfilerStep#2")->x0;
  const Ns visible = w.view().active().time.span.length();
  std::swap(w.a, w.b);
  w.h.input.document = w.a.get();
  w.h.input.second = w.b.get();
  w.run(4);
  CHECK(w.view().window.compare.side == TraceSide::a);
  CHECK(w.h.ui.document() == w.a.get());
  CHECK(w.a->trace.name(w.view().active().selection) == "aten::mm");
  CHECK(w.zone(TraceSide::a, "ProfilerStep#2")->x0 == x);
  CHECK(w.zone(TraceSide::b, "ProfilerStep#2")->x0 == x);
  CHECK(w.view().active().time.span.length() == visible);
  REQUIRE(w.view().window.compare.answer);
  CHECK(w.view().window.compare.answer->step_a.length() == 600'000);
}

TEST_CASE("without the second trace the window is as it was; without the first the second takes its place") {
  Window w;
  w.h.click(w.middle(TraceSide::b, "aten::mm"));
  SUBCASE("B closes") {
    w.h.input.second = nullptr;
    w.run(2);
    CHECK(w.h.ui.document() == w.a.get());
    CHECK_FALSE(w.view().active().linked);
    CHECK(w.view().active().time.span.begin >= fit(w.a->trace.span).span.begin);
    CHECK(w.view().active().time.span.end <= fit(w.a->trace.span).span.end);
    CHECK(w.zone(TraceSide::a, "ProfilerStep#2"));
  }
  SUBCASE("A closes") {
    w.h.input.document = w.b.get();
    w.h.input.second = nullptr;
    w.run(2);
    CHECK(w.h.ui.document() == w.b.get());
    CHECK(w.b->trace.name(w.view().active().selection) == "aten::mm");
  }
  SUBCASE("both close") {
    w.h.input.document = w.h.input.second = nullptr;
    w.h.frames(2);
    CHECK(w.h.ui.document() == nullptr);
  }
  CHECK(w.view().window.compare.side == TraceSide::a);
  CHECK_FALSE(w.view().window.compare.open);
}

TEST_CASE("another first trace is compared with the same second one") {
  Window w;
  const auto other = test::document_from_text(test::kOneLaunch);
  other->diagnose();
  w.h.input.document = other.get();
  w.run(4);
  REQUIRE(w.view().window.compare.answer);
  CHECK(w.h.ui.compare().alignment().zero_a == 100'000);
  w.check_linked();
}

TEST_CASE("both traces may be others from one frame to the next, and the last ones gone") {  // for the address sanitizer
  Window w;
  const auto first = test::document_from_text(test::kOneLaunch), second = test::document_from_text(test::kBefore);
  w.h.input.document = first.get();
  w.h.input.second = second.get();
  w.a.reset();
  w.b.reset();
  w.h.frames(2);
  CHECK(w.h.ui.document() == first.get());
  CHECK(w.h.ui.compare().document() == second.get());
  CHECK(w.h.ui.compare().alignment().zero_b == second->trace.span.begin);
}

TEST_CASE("a chosen pair is selected in both and in sight") {
  Window w;
  w.h.press(Key::home);
  show_panel(w.view().window, "compare");
  w.run(3);
  w.view().window.compare.show = SlicePair{test::slice_named(*w.a, "my_gemm"), test::slice_named(*w.b, "my_gemm")};
  w.run(3);
  CHECK(w.a->trace.name(w.view_of(TraceSide::a).selection) == "my_gemm");
  CHECK(w.b->trace.name(w.view_of(TraceSide::b).selection) == "my_gemm");
  const std::optional<Zone> a = w.zone(TraceSide::a, "my_gemm"), b = w.zone(TraceSide::b, "my_gemm");
  REQUIRE(a);
  REQUIRE(b);
  CHECK(a->x1 - a->x0 > 40);
  CHECK(is_panel_shown(w.view().window, "compare"));  // the row was one of its tab
  CHECK(a->y1 <= w.timeline(TraceSide::a).window().top.y1);
  CHECK(b->y1 <= w.timeline(TraceSide::b).window().top.y1);
  w.check_linked();
}

TEST_CASE("a small window still has both timelines and loses no pixel to the other") {
  for (const ImVec2 size : {ImVec2{1280, 720}, ImVec2{640, 360}, ImVec2{200, 120}}) {
    Window w;
    w.h.input.width_px = size.x;
    w.h.input.height_px = size.y;
    ImGui::GetIO().DisplaySize = size;
    w.run(3);
    const TimelineAreas &a = w.timeline(TraceSide::a).areas(), &b = w.timeline(TraceSide::b).areas();
    const LaneWindow &in_a = w.timeline(TraceSide::a).window(), &in_b = w.timeline(TraceSide::b).window();
    CHECK(a.ruler.y0 == b.ruler.y0);
    CHECK(in_a.top.y1 <= in_b.top.y0);
    if (size.x > 600) CHECK(in_b.top.height() > 20);
  }
}

TEST_CASE("while the second trace loads a line says how far it is, and it can be cancelled") {
  Window w;
  LoadingView loading;
  loading.path = "after.json";
  loading.stage = "reading";
  w.h.input.second = nullptr;
  w.h.input.loading_second = &loading;
  w.run(2);
  CHECK(w.view().window.compare.loading);
  w.h.out.list.clear();
  const Box& lanes = w.timeline(TraceSide::a).areas().lanes;
  w.h.click({lanes.x1 - 40, lanes.y1 + 11});
  CHECK(w.h.out.has<CloseSecond>());
}

TEST_CASE("a file chosen to compare with is asked for as the second one, and the timeline is there at once") {
  Window w;
  w.h.input.second = nullptr;
  w.run(2);
  const std::vector<Sample> samples = {{"one", "What it teaches."}};
  w.h.input.samples = samples;
  CommandScope scope{w.h.ui.document(), w.view().active(), w.view().window, w.h.out};
  run_command(CommandId::compare_with, scope);
  w.h.out.list.clear();
  w.h.frames(3);
  CHECK(w.view().window.start_open);
  CHECK(w.view().window.start.path == split_typed(w.a->trace.path).folder);
  for (float x = 584; x < 640; x += 12)
    for (float y = 100; y < 800 && !w.h.out.has<OpenSample>(); y += 8) w.h.click({x, y});
  REQUIRE(w.h.out.has<OpenSample>());
  for (const Request& request : w.h.out.list) {
    if (const auto* open = std::get_if<OpenSample>(&request)) CHECK(open->as_second);
  }
  CHECK_FALSE(w.view().window.start_open);
  run_command(CommandId::open_file, scope);
  CHECK_FALSE(w.view().window.start.as_second);
}

namespace {

struct Tab {
  std::shared_ptr<const Document> a = test::document_from_text(test::kBefore), b = test::document_from_text(test::kAfter);
  ViewState view;
  Requests out;
  test::PanelHarness harness{{1600, 700}};

  Tab() {
    view.window.compare.open = true;
    view.window.compare.answer = answer_comparison(*a, *b, {});
  }
  void draw() { draw_compare(*a, view.active(), view.window, out); }
  std::string text() {
    return harness.settle([this] { draw(); });
  }
};

}  // namespace

TEST_CASE("where neither trace has marked steps, nothing speaks of one") {
  const auto unmarked = [](std::string text) {
    for (const auto& [from, to] :
         {std::pair(std::string("user_annotation"), "cpu_op"), std::pair(std::string("ProfilerStep#2"), "main")})
      text.replace(text.find(from), from.size(), to);
    return test::document_from_text(text);
  };
  const auto a = unmarked(std::string(test::kBefore)), b = unmarked(std::string(test::kAfter));
  a->diagnose();
  b->diagnose();
  test::HeadlessUi h(a.get(), 1600, 900, 1, /*fonts=*/true);
  h.input.second = b.get();
  h.ui.view().window.tour = {};
  show_panel(h.ui.view().window, "compare");
  for (const CompareTable table :
       {CompareTable::steps, CompareTable::kernels, CompareTable::operators, CompareTable::findings}) {
    h.ui.view().window.compare.table = table;
    for (int i = 0; i < 5; ++i) {
      h.frame();
      for (const Request& request : h.out.list)
        if (const auto* ask = std::get_if<MakeComparison>(&request))
          h.ui.view().window.compare.answer = answer_comparison(*a, *b, ask->options);
      test::answer(h.out, *h.ui.document(), h.ui.view());
    }
    REQUIRE(h.ui.view().window.compare.answer);
    std::string lines;
    bool in_compare = false;
    const float y0 = [&] {
      for (const PanelPlace& place : h.ui.places())
        if (std::string_view(place.name) == "drawer") return place.box.y0 + 40;  // below the tabs; one is "Steps"
      return 0.0f;
    }();
    for (const DrawnText& text : drawn_texts(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts)) {
      if (text.box.y0 < y0) continue;
      in_compare = true;
      const bool says_why = text.text.starts_with("Neither trace has ProfilerStep#");
      if (!says_why && text.text.find("tep") != std::string::npos) lines += text.text + "\n";
    }
    CHECK(in_compare);
    CHECK_MESSAGE(lines.empty(), lines);
    if (table != CompareTable::steps) continue;
    std::size_t ratios = 0;  // nor do the tooltips of the ratios
    for (const DrawnText& ratio : drawn_texts(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts)) {
      if (ratio.box.y0 < y0 || ratio.text.find("x faster") == std::string::npos || ratio.text.find(':') != std::string::npos)
        continue;
      ++ratios;
      h.move_to({(ratio.box.x0 + ratio.box.x1) / 2, (ratio.box.y0 + ratio.box.y1) / 2});
      h.frames(60);
      for (const DrawnText& text : drawn_texts(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts))
        CHECK_MESSAGE(text.text.find("half of the steps") == std::string::npos, text.text);
    }
    CHECK(ratios > 0);
  }
}

TEST_CASE("the tab begins with the verdict, and its tables name what changed, came and went") {
  Tab tab;
  const auto shows = [&](CompareTable table, const std::vector<const char*>& parts) {
    tab.view.window.compare.table = table;
    const std::string text = tab.text();
    CHECK(holds(text, "As recorded: " + tab.view.window.compare.answer->comparison.verdict.substr(0, 30)));
    for (const char* part : parts) CHECK_MESSAGE(holds(text, part), part);
    return text;
  };
  shows(CompareTable::steps, {"CPU time", "-300", "1.50x faster"});
  shows(CompareTable::operators, {"aten::mm", "only A  aten::add", "only B  aten::relu", "-200"});
  shows(CompareTable::kernels, {"my_gemm", "same", "-100"});
  const std::string text = shows(CompareTable::findings, {});
  for (const ComparisonFinding& finding : tab.view.window.compare.answer->comparison.findings)
    CHECK(holds(text, finding.title));
}

TEST_CASE("a click on a row of the tab leads to both places") {
  for (const CompareTable table : {CompareTable::steps, CompareTable::kernels, CompareTable::operators}) {
    Tab tab;
    tab.view.window.compare.table = table;
    CAPTURE(tab.text());
    for (float y = 74; y < 300 && !tab.view.window.compare.show; y += 8) {  // below the buttons
      tab.harness.point_at({300, y});
      tab.harness.frame([&] { tab.draw(); });
      tab.harness.click([&] { tab.draw(); });
    }
    REQUIRE(tab.view.window.compare.show);
    CHECK(tab.view.window.compare.show->a);
    if (table != CompareTable::operators) CHECK(tab.view.window.compare.show->b);
  }
}

TEST_CASE("without a second trace the tab says how to open one, and a button leads there") {
  Tab tab;
  tab.view.window.compare = {};
  CHECK(holds(tab.text(), "--compare"));
  CHECK(tab.harness.click_around([&] { tab.draw(); }, [&] { return tab.view.window.start_open; }, 6));
  CHECK(tab.view.window.start.as_second);
}

TEST_CASE("what cannot be compared is said in a sentence") {
  Tab tab;
  tab.view.window.compare.answer = answer_comparison(*tab.a, *tab.b, {StepPick::number, 77, ""});
  CHECK(holds(tab.text(), tab.view.window.compare.answer->error));
}

TEST_CASE("in a low panel the rows have the height, and the verdict whole sentences; in the list of findings it scrolls") {
  Tab tab;
  tab.harness.resize({900, 150});  // as in a window of 900x560
  const std::string text = tab.text(), &verdict = tab.view.window.compare.answer->comparison.verdict;
  for (const char* row : {"CPU time", "GPU time", "GPU busy", "GPU idle"}) CHECK(holds(text, row));
  CHECK(holds(text, verdict.substr(0, verdict.find(". ") + 1)));
  CHECK_FALSE(holds(text, "\u2026"));
  CHECK(holds(text, "Whole verdict"));
  // There it scrolls.
  tab.view.window.compare.table = CompareTable::findings;
  const std::string listed = tab.text();
  CHECK(holds(listed, verdict.substr(0, verdict.find(". ") + 1)));
  CHECK_FALSE(holds(listed, "Whole verdict"));
}

TEST_CASE("where a cold first step is left out, the tab and the strip speak of a warm one") {
  Tab tab;
  for (const bool cold : {false, true}) {
    auto answer = std::make_shared<ComparisonAnswer>(*tab.view.window.compare.answer);
    if (cold) answer->comparison.b.cold = StepValues{};
    tab.view.window.compare.answer = answer;
    std::string strip;
    for (const std::string& piece : change_headline(*tab.a, *tab.b, answer.get())) strip += piece + "; ";
    CHECK(holds(strip, cold ? "a warm step on the CPU " : "a step on the CPU "));
    CHECK(holds(tab.text(), "Of a warm step") == cold);
  }
}

TEST_CASE("a trace's words say what its bound is a share of, so that it fits a GPU that is mostly busy") {
  const Document document(test::load_once(test::recording("transformer_optimized")));
  CHECK(side_headline(document).empty());
  document.judge();
  CHECK(side_headline(document) == std::vector<std::string>{"Host-bound for 31.4 % of 34.4 ms", "GPU busy 66.2 %"});
  CHECK(side_headline(document, /*brief=*/true) == std::vector<std::string>{"Host-bound 31.4 % of 34.4 ms", "GPU busy 66.2 %"});
  const Document plain(test::load_plain(test::recording("transformer_optimized"), StepTime(12 * kNsPerMs)));
  plain.judge();
  const std::vector<std::string> said = side_headline(plain);
  REQUIRE(said.size() == 4);
  CHECK(said[1] == "12.0 ms a step");
  CHECK(change_headline(plain, plain, nullptr).front() == "step 12.0 ms -> 12.0 ms");
  const Document longer(test::load_plain(test::recording("transformer_optimized"), StepTime(15 * kNsPerMs)));
  longer.judge();
  CHECK(change_headline(plain, longer, nullptr).front() == "step 12.0 ms -> 15.0 ms, 1.25x longer");
  CHECK(change_headline(longer, plain, nullptr).front() == "step 15.0 ms -> 12.0 ms, 1.25x shorter");
  CHECK(change_headline(plain, longer, nullptr)[2] == "without the profiler: A 12.0 ms, B 15.0 ms");
  const Document guess(test::load_plain(test::recording("transformer_optimized")));
  const Document other(test::load_plain(test::recording("transformer_baseline")));
  guess.judge(), other.judge();
  CHECK(change_headline(other, guess, nullptr).front().ends_with(", their ranges overlap"));
  CHECK(document.diagnosis()->words.what.find(
            "is busy 66.2 % of the window of 34.4 ms (3 steps) and waits 31.4 % for the host") != std::string::npos);
}
