// Random input from a fixed seed: keys of the command table, text, wheel, drags, clicks, sizes, scales, themes and other
// documents. GAPSCOPE_MONKEY sets the number of inputs, GAPSCOPE_MONKEY_SEED another seed. An assertion of Dear ImGui ends the
// program, and so the test.
#include <doctest/doctest.h>

#include <cstdlib>
#include <memory>
#include <random>
#include <string>

#include "core/view/compare/compare_model.h"
#include "core/view/document.h"
#include "core/view/timeline/flow_paint.h"
#include "core/view/timeline/time_view.h"
#include "tests/support/headless_ui.h"
#include "tests/support/real_traces.h"
#include "tests/support/stand_in.h"
#include "ui/commands.h"
#include "ui/compare/compare_view.h"
#include "ui/panels.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

constexpr int kInputs = 2'000;  // in ctest
constexpr unsigned kSeed = 20'240'607;

unsigned seed() {
  const char* wanted = std::getenv("GAPSCOPE_MONKEY_SEED");
  return wanted ? static_cast<unsigned>(std::atoi(wanted)) : kSeed;
}

int inputs() {
  const char* wanted = std::getenv("GAPSCOPE_MONKEY");
  return wanted ? std::atoi(wanted) : kInputs;
}

std::shared_ptr<const Document> opened(const std::string& name) {
  auto document = std::make_shared<const Document>(load_once(test::recording(name)));
  document->diagnose();
  return document;
}

class Monkey {
 public:
  // With `two` another trace is next to the first, sometimes the other way round.
  explicit Monkey(bool two)
      : two_(two),
        first_(opened("matmul_add_64_cold_eager")),
        second_(opened("transformer_optimized")),
        ui_(first_.get(), 1200, 700) {
    if (two) ui_.input.second = second_.get();
  }

  void act() {
    switch (below(14)) {
      case 0:
      case 1:
      case 2: return press_command();
      case 3: return hold_key();
      case 4: return wheel();
      case 5:
      case 6: return drag();
      case 7:
      case 8:
      case 9: return click();
      case 10: return double_click();
      case 11: return below(10) == 0 ? change_document() : change_window();
      case 12: return change_view();
      default: return type();
    }
  }

  // What must hold after every frame.
  void check() {
    const ViewState& view = ui_.ui.view();
    const Document* document = ui_.ui.document();
    if (!document) return;
    const Trace& trace = document->trace;
    const Span reach = axis_reach(view.active(), trace.span);
    const double width = visible_ns(view.active().time);
    require(width >= static_cast<double>(kMinVisibleNs) - 1 && width <= visible_ns(fit(reach)) + 1,
            "the zoom keeps its limits");
    require(!view.active().selection || view.active().selection.index() < trace.slice_count(),
            "the selection is of this trace");
    require(view.active().time.span.end >= reach.begin && view.active().time.span.begin <= reach.end,
            "some of the trace is in sight");
    require(view.active().scroll_px >= 0, "the lanes do not scroll above their top");
    require(view.active().flows.drawn <= kMostSceneArrows, "arrows are few");
    check_rects(ui_.ui.timeline(), trace);
    if (view.window.compare.open) check_both(view);
    for (int i = 0; i < ImGui::GetDrawData()->CmdListsCount; ++i) check_commands(*ImGui::GetDrawData()->CmdLists[i]);
  }
  const std::string& broken() const { return broken_; }  // the first broken promise

 private:
  void check_rects(const TimelinePanel& timeline, const Trace& trace) {
    const Box& lanes = timeline.areas().lanes;
    for (const SliceRect& r : timeline.rects()) {
      require(r.x0 >= 0 && r.x1 > r.x0 && static_cast<float>(r.x1) <= lanes.width(), "slices lie inside the lanes");
      require(r.slice.index() < trace.slice_count(), "what is drawn is of this trace");
    }
  }
  void check_both(const ViewState& view) {
    const CompareView& both = ui_.ui.compare();
    check_rects(ui_.ui.timeline_a(), ui_.input.document->trace);
    check_rects(both.timeline(), both.document()->trace);
    const TraceView &a = view.of(TraceSide::a), &b = view.of(TraceSide::b);
    require(moved_by(a.time, both.alignment().way()).span == b.time.span, "both traces show the same time of their steps");
    require(!a.selection || a.selection.index() < ui_.input.document->trace.slice_count(), "A's selection is of A");
    require(!b.selection || b.selection.index() < both.document()->trace.slice_count(), "B's selection is of B");
  }
  void require(bool holds, const char* promise) {
    if (!holds && broken_.empty()) broken_ = promise;
  }
  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  float part() { return static_cast<float>(below(10'001)) / 10'000; }
  ImVec2 anywhere() { return {part() * ui_.input.width_px, part() * ui_.input.height_px}; }

  void check_commands(const ImDrawList& list) {
    for (const ImDrawCmd& command : list.CmdBuffer) {
      const ImVec4& clip = command.ClipRect;
      if (command.ElemCount == 0) continue;
      require(clip.z >= clip.x && clip.w >= clip.y, "clip rectangles are not inside out");
      if (clip.z == clip.x || clip.w == clip.y) continue;  // nothing of it is drawn
      require(clip.x <= ui_.input.width_px && clip.y <= ui_.input.height_px, "what is drawn is in the window");
    }
  }

  void frame() {
    ui_.frame();
    check();
    carry_out();
  }
  void frames(unsigned count) {
    for (unsigned i = 0; i < count; ++i) frame();
  }

  void carry_out() {
    const Requests requests = std::exchange(ui_.out, {});
    for (const Request& request : requests.list) {
      if (ui_.ui.document()) std::visit(StandIn{*ui_.ui.document(), ui_.ui.view()}, request);
      compare(request);
    }
    for (const Request& request : requests.list) {
      if (std::holds_alternative<CloseFile>(request)) ui_.input.document = std::exchange(ui_.input.second, nullptr);
      if (std::holds_alternative<OpenFile>(request) || std::holds_alternative<OpenSample>(request)) open();
    }
  }
  void compare(const Request& request) {
    FrameInput& in = ui_.input;
    if (std::holds_alternative<SwapTraces>(request) && in.document && in.second) std::swap(in.document, in.second);
    if (std::holds_alternative<CloseSecond>(request)) in.second = nullptr;
    if (const auto* ask = std::get_if<MakeComparison>(&request); ask && in.document && in.second)
      ui_.ui.view().window.compare.answer = answer_comparison(*in.document, *in.second, ask->options);
  }
  void open() {
    ui_.input.document = second_.get();
    ui_.input.second = two_ ? first_.get() : nullptr;
  }

  void press_command() {
    const auto table = commands();
    const Command& c = table[below(static_cast<unsigned>(table.size()))];
    const Chord& chord = c.chords[below(2)];
    if (chord.key == Key::none) {
      CommandScope scope{ui_.ui.document(), ui_.ui.view().active(), ui_.ui.view().window, ui_.out};
      run_command(c.id, scope);
    } else {
      ui_.presses.push_back({chord.key, chord.mods, false});
    }
    frames(1 + below(3));
  }
  void hold_key() {
    static constexpr std::array kKeys{Key::w, Key::a, Key::s, Key::d, Key::left, Key::right};
    ui_.input.held.set(static_cast<std::size_t>(kKeys[below(kKeys.size())]));
    ui_.input.delta_s = below(20) == 0 ? 2.0 : 1.0 / 60;
    frames(1 + below(8));
    ui_.input.held.reset();
    ui_.input.delta_s = 1.0 / 60;
  }
  void wheel() {
    ui_.mouse = anywhere();
    ui_.ctrl = below(2) == 0;
    ui_.shift = below(4) == 0;
    ui_.wheel = part() * 8 - 4;
    frames(1 + below(3));
    ui_.ctrl = ui_.shift = false;
  }
  void drag() {
    ui_.mouse = anywhere();
    frame();
    ui_.shift = below(3) == 0;
    ui_.button = true;
    frame();
    for (unsigned i = below(5); i > 0; --i) {
      ui_.mouse = anywhere();
      frame();
    }
    ui_.button = false;
    frame();
    ui_.shift = false;
  }
  void click() {
    ui_.mouse = anywhere();
    const bool other = ui_.ui.view().window.compare.open && below(2) == 0;
    const auto& zones = (other ? ui_.ui.compare().timeline() : ui_.ui.timeline()).zones().all();
    if (!zones.empty() && below(2) == 0) {
      const Zone& zone = zones[below(static_cast<unsigned>(zones.size()))];
      ui_.mouse = {(zone.x0 + zone.x1) / 2, (zone.y0 + zone.y1) / 2};
    }
    frame();
    ui_.button = true;
    frame();
    ui_.button = false;
    frames(2);
  }
  void double_click() {
    click();
    ui_.button = true;
    frame();
    ui_.button = false;
    frames(2);
  }
  void change_window() {
    static constexpr std::array kScales{0.75f, 1.0f, 1.25f, 1.5f, 2.0f, 3.0f};
    ui_.input.width_px = 200 + std::floor(part() * 2000);
    ui_.input.height_px = 120 + std::floor(part() * 1200);
    ImGui::GetIO().DisplaySize = {ui_.input.width_px, ui_.input.height_px};
    if (below(2) == 0) ui_.input.scale = kScales[below(kScales.size())];
    frames(2);
  }
  void change_document() {
    const Document* all[] = {first_.get(), second_.get(), nullptr};
    ui_.input.document = all[below(3)];
    ui_.input.second =
        two_ && ui_.input.document && below(4) > 0 ? (ui_.input.document == first_.get() ? second_ : first_).get() : nullptr;
    frames(2);
  }
  void change_view() {
    ViewState& view = ui_.ui.view();
    view.window.settings.theme = below(2) == 0 ? ThemeName::dark : ThemeName::light;
    view.window.settings.animate = below(2) == 0;
    view.window.tab = below(static_cast<unsigned>(panels().size()));
    view.window.signals.select_tab = true;
    if (const Document* document = ui_.ui.document(); document && document->trace.slice_count() > 0 && below(2) == 0) {
      select_slice(view.active(), SliceId(below(static_cast<unsigned>(document->trace.slice_count()))), true);
    }
    frames(2);
  }
  void type() {
    for (unsigned i = 1 + below(4); i > 0; --i) ImGui::GetIO().AddInputCharacter(32 + below(95));
    frames(1);
  }

  std::mt19937 random_{seed()};
  bool two_ = false;
  std::shared_ptr<const Document> first_, second_;
  HeadlessUi ui_;
  std::string broken_;
};

}  // namespace

TEST_CASE("whatever a monkey does, the window holds and the view keeps its limits") {
  for (const bool two : {false, true}) {
    CAPTURE(two);
    Monkey monkey(two);
    const int count = inputs();
    for (int i = 0; i < count && monkey.broken().empty(); ++i) {
      CAPTURE(i);
      monkey.act();
      CHECK(monkey.broken() == "");
    }
  }
}
