// The tab What if, its rows above the lanes, and the menus that lead there.
#include <doctest/doctest.h>

#include "core/base/text.h"
#include "core/view/answers.h"
#include "core/view/document.h"
#include "core/view/ranks/ranks_model.h"
#include "core/view/timeline/time_view.h"
#include "core/view/whatif/run_what_if_model.h"
#include "tests/support/headless_ui.h"
#include "tests/support/panel_harness.h"
#include "tests/support/real_traces.h"
#include "ui/commands.h"
#include "ui/panels.h"
#include "ui/whatif/whatif_panel.h"
#include "ui/widgets/drawn_text.h"

using namespace gapscope;
using test::holds;

namespace {

std::shared_ptr<const Document> diagnosed(const char* name) {
  auto document = std::make_shared<const Document>(test::load_once(test::recording(name)));
  document->diagnose();
  return document;
}

void answer_all(Requests& out) {
  for (const Request& request : out.list)
    if (const auto* ask = std::get_if<Ask>(&request)) answer_now(*ask->document, ask->question);
  out.list.clear();
}

struct WhatIfPanel {
  explicit WhatIfPanel(const char* name) : document(diagnosed(name)) {}
  void draw() {
    draw_what_if(*document, view.active(), view.window, out);
    answer_all(out);
  }
  std::string frame() {
    return harness.settle([this] { draw(); });
  }
  WhatIfChanges& changes() { return view.active().what_if.changes; }

  std::shared_ptr<const Document> document;
  ViewState view;
  Requests out;
  test::PanelHarness harness{{1700, 900}};
};

// The window, whose questions are answered at once.
struct Window {
  explicit Window(const char* name) : document(diagnosed(name)), ui(document.get(), 1600, 900, 1, /*fonts=*/true) {}
  void settle() {
    for (int i = 0; i < 6; ++i) {
      ui.frame();
      answer_all(ui.out);
    }
  }
  // Of the picture, as it is drawn last.
  std::vector<DrawnText> texts() const { return drawn_texts(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts); }
  std::string words() const {
    std::string all;
    for (const DrawnText& text : texts()) all += text.text + "\n";
    return all;
  }
  // The one that begins so and is in front.
  void click(std::string_view begin) {
    ImVec2 at{-1, -1};
    for (const DrawnText& text : texts())
      if (text.text.starts_with(begin)) at = {(text.box.x0 + text.box.x1) / 2, (text.box.y0 + text.box.y1) / 2};
    REQUIRE_MESSAGE(at.x >= 0, begin);
    ui.click(at);
    settle();
  }
  std::shared_ptr<const Document> document;
  test::HeadlessUi ui;
};

}  // namespace

TEST_CASE("the tab says how the run is, the plan, what holds it back, and what a replay cannot know") {
  WhatIfPanel panel("needless_sync");
  const std::string text = panel.frame();
  for (const char* part :
       {"Now", "busy", "The plan", "Bottlenecks", "by name", "A replay does not know which data a call needs",
        "at most, after removing 7 synchronizations a step", "How gains are predicted"})
    CHECK_MESSAGE(holds(text, part), part);
  CHECK_FALSE(holds(text, "then busy"));
}

TEST_CASE("a change shows what it gives, and can be taken away") {
  WhatIfPanel panel("needless_sync");
  panel.frame();
  panel.changes().gpu = 0;
  const std::string text = panel.frame();
  CHECK(holds(text, "Then"));
  CHECK(holds(text, "then busy"));
  const auto answer = answer_to<WhatIfQuestion>(*panel.document);
  REQUIRE(answer);
  CHECK(answer->changes.gpu == 0);
  CHECK(answer->after.busy.after == 0);
  panel.changes() = {};
  CHECK_FALSE(holds(panel.frame(), "then busy"));
}

TEST_CASE("the path has a row as wide as the run, and replayed GPUs one each while there are changes") {
  Window w("needless_sync");
  ViewState& view = w.ui.ui.view();
  w.settle();
  CHECK(w.ui.ui.timeline().areas().replay.height() == 0);
  const float lanes = w.ui.ui.timeline().areas().lanes.y0;
  w.ui.press(Key::k);
  w.settle();
  CHECK(view.active().what_if.path);
  const TimelinePanel& timeline = w.ui.ui.timeline();
  CHECK(timeline.areas().replay.height() > 10);
  CHECK(timeline.areas().lanes.y0 == lanes + timeline.areas().replay.height());
  const auto width_of = [&](ZoneKind kind, std::uint32_t place) {
    float width = 0;
    for (const Zone& zone : timeline.zones().all()) width += zone.kind == kind && zone.place == place ? zone.x1 - zone.x0 : 0;
    return width;
  };
  const auto base = answer_to<ReplayBaseQuestion>(*w.document);
  REQUIRE(base);
  const auto px = [&](Span run) {
    return static_cast<float>(px_from_ns(view.active().time, timeline.areas().lanes.width(), run.end) -
                              px_from_ns(view.active().time, timeline.areas().lanes.width(), run.begin));
  };
  CHECK(width_of(ZoneKind::path, 0) == doctest::Approx(px(base->now.result.run)).epsilon(0.01));
  CHECK(width_of(ZoneKind::replayed, 0) == 0);
  view.active().what_if.changes.no_wait = true;
  view.active().what_if.changes.host = 0.5;
  w.settle();
  const auto answer = answer_to<WhatIfQuestion>(*w.document);
  REQUIRE(answer);
  CHECK(width_of(ZoneKind::replayed, 0) > 0);
  CHECK(width_of(ZoneKind::path, 1) == doctest::Approx(px(answer->after.result.run)).epsilon(0.01));
  // Undone like any other edit.
  w.ui.press(Key::z, kCtrl);
  w.settle();
  CHECK(view.active().what_if.changes.empty());
  CHECK(width_of(ZoneKind::replayed, 0) == 0);
}

TEST_CASE("where the replayed run is over its row says so, and when it ended") {
  Window w("needless_sync");
  ViewState& view = w.ui.ui.view();
  view.active().what_if.changes.host = 0.5;
  view.window.tab = 1;
  w.settle();
  const auto answer = answer_to<WhatIfQuestion>(*w.document);
  REQUIRE(answer);
  const Span then = answer->after.result.run, recorded = answer_to<ReplayBaseQuestion>(*w.document)->now.result.run;
  REQUIRE(then.end < recorded.end);
  const auto said = [&](Span visible) {
    view.active().time = within_limits({visible, 0, 0}, w.document->trace.span);
    w.settle();
    std::string words;
    const Box& rows = w.ui.ui.timeline().areas().replay;
    for (const DrawnText& text : drawn_texts(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts))
      if (text.box.x0 > rows.x0 && text.box.y0 >= rows.y0 && text.box.y1 <= rows.y1) words += text.text + "\n";
    return words;
  };
  CHECK(holds(said({then.end + 1000, recorded.end}), "the run ended at"));
  const Ns step = then.length() / 10;
  CHECK(holds(said({then.end - step, then.end + step}), "ends " + format_duration(answer->after.result.gain()) + " earlier"));
  CHECK_FALSE(holds(said({then.begin, then.begin + step}), "ends"));
}

TEST_CASE("a finding and a menu lead to the tab with their change") {
  Window w("needless_sync");
  ViewState& view = w.ui.ui.view();
  w.settle();
  try_finding(view.active(), view.window, w.document->diagnosis()->plan.items.at(0).finding);
  w.settle();
  CHECK(is_panel_shown(view.window, "whatif"));
  CHECK(view.active().what_if.changes.items.size() == 1);
  CHECK(answer_to<WhatIfQuestion>(*w.document)->after.result.gain() > 0);
}

TEST_CASE("a click on a change or in a slice's menu makes it, and one takes it away") {
  Window w("transformer_baseline");
  ViewState& view = w.ui.ui.view();
  show_panel(view.window, "whatif");
  w.settle();
  REQUIRE(holds(w.words(), "The plan"));
  w.click("each step were one graph");
  CHECK(view.active().what_if.changes.graph);
  CHECK(holds(w.words(), "GPU 0 with the changes"));
  CHECK(holds(w.words(), "14.0 ms to "));
  w.click("Reset");
  CHECK(view.active().what_if.changes.empty());
  CHECK_FALSE(holds(w.words(), "GPU 0 with the changes"));
  show_panel(view.window, "steps");
  w.settle();
  for (const Zone& zone : w.ui.ui.timeline().zones().all()) {
    if (zone.kind != ZoneKind::slice || !w.document->trace.name(zone.slice).starts_with("Optimizer.step")) continue;
    w.ui.move_to({(zone.x0 + zone.x1) / 2, (zone.y0 + zone.y1) / 2});
    break;
  }
  ImGui::GetIO().MouseDown[1] = true;
  w.ui.frame();
  ImGui::GetIO().MouseDown[1] = false;
  w.settle();
  w.click("What if this took no time?");
  CHECK(is_panel_shown(view.window, "whatif"));
  CHECK(view.active().what_if.changes.items.size() == 1);
  REQUIRE(answer_to<WhatIfQuestion>(*w.document));
  CHECK(answer_to<WhatIfQuestion>(*w.document)->after.result.gain() > 0);
}

TEST_CASE("while a slider is held the answer under way is waited for") {
  const auto document = diagnosed("needless_sync");
  TraceView view;
  Requests out;
  ask_for_replays(*document, view, true, out);
  answer_all(out);
  view.what_if.changes.gpu = 0.5;
  ask_for_replays(*document, view, true, out);
  CHECK(out.list.size() == 1);
  view.what_if.held = true;
  view.what_if.changes.gpu = 0.4;
  ask_for_replays(*document, view, true, out);
  CHECK(out.list.size() == 1);
  answer_all(out);
  ask_for_replays(*document, view, true, out);
  CHECK(out.list.size() == 1);
  answer_all(out);
  CHECK(answer_to<WhatIfQuestion>(*document)->changes.gpu == 0.4);
  // It is hidden: nothing is asked.
  TraceView other;
  ask_for_replays(*diagnosed("linear_eager"), other, false, out);
  CHECK(out.list.empty());
}

TEST_CASE("of ranks that are open the tab says what they would take were one never late, or its links slower") {
  WhatIfPanel panel("ddp_delayed_rank1");
  CHECK_FALSE(holds(panel.frame(), "All ranks together"));
  const std::vector<std::string> files = {test::recording("ddp_delayed_rank0").string(),
                                          test::recording("ddp_delayed_rank1").string()};
  panel.view.window.ranks.last = answer(*panel.document, RanksQuestion{files}, nullptr);
  REQUIRE(panel.view.window.ranks.last);
  std::string text = panel.frame();
  CHECK(holds(text, "All ranks together"));
  CHECK(holds(text, "rank 1 were never late"));
  CHECK(holds(text, "links as recorded"));
  CHECK_FALSE(holds(text, "of 2 ranks"));
  const auto& question = asked<RunWhatIfQuestion>(*panel.document).question;
  REQUIRE(panel.harness.click_around([&] { panel.draw(); }, [&] { return question && !question->never_late.empty(); }));
  CHECK(question->never_late == std::vector<std::int64_t>{1});
  panel.harness.point_at({1690, 890});  // off what explains itself
  text = panel.frame();
  CHECK(holds(text, "64.3 ms to 37.0 ms of 2 ranks: 42.5 % less"));
  CHECK(holds(text, "then rank 0 is late"));
  CHECK(holds(text, "Reset"));
  RunWhatIfQuestion slower{panel.view.window.ranks.last, {}, 1};
  answer_now(*panel.document, slower);
  CHECK(holds(panel.frame(), "more"));
}
