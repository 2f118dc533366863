#include "ui/snapshot/snapshot_page.h"

#include <algorithm>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "core/view/timeline/time_view.h"
#include "tests/support/headless_ui.h"
#include "tests/support/panel_harness.h"
#include "tests/support/pickle_bytes.h"
#include "tests/support/temp_folder.h"
#include "tests/support/tiny_traces.h"
#include "ui/widgets/drawn_text.h"

using namespace gapscope;
using test::holds;

namespace {

struct SnapshotWindow {
  SnapshotWindow() : ui(nullptr, 1400, 800, 1, /*fonts=*/true) {
    const std::string path = (folder.path() / "oom\x1b[31m%s.pickle").string();
    folder.write("oom\x1b[31m%s.pickle", test::tiny_snapshot());
    const auto opened_one = open_snapshot(path);
    REQUIRE(opened_one.ok());
    opened = *opened_one;
    ui.input.snapshot = opened.get();
    settle();
  }
  // As the session does.
  void settle() {
    for (int i = 0; i < 4; ++i) {
      ui.input.moment = moment.get();
      ui.frame();
      if (const auto ask = ui.ui.snapshot_page().take_question()) moment = moment_of(*opened, ask->device, ask->event);
    }
  }
  std::string text() {
    std::string all;
    for (const DrawnText& drawn : drawn_texts(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts)) all += drawn.text + '\n';
    return all;
  }
  const SnapshotPage& page() const { return ui.ui.snapshot_page(); }
  void show(SnapshotPage::Tab tab) {
    ui.ui.snapshot_page().show(tab);
    settle();
  }
  // In the chart: shares of its width and height.
  void click(float x, float y) {
    const Box& chart = page().chart();
    ui.click({chart.x0 + x * chart.width(), chart.y1 - y * chart.height()});
    settle();
  }

  test::TempFolder folder;
  std::shared_ptr<const OpenedSnapshot> opened;
  std::shared_ptr<const SnapshotMoment> moment;
  test::HeadlessUi ui;
};

}  // namespace

TEST_CASE("a snapshot shows why memory ran out first, and the memory of that moment") {
  SnapshotWindow window;
  const std::string text = window.text();
  CHECK(holds(text, "Out of memory: a.py:7"));
  CHECK(holds(text, "out of memory"));  // at its mark
  CHECK(holds(text, "when memory ran out (event 5)"));
  CHECK(window.page().wanted_event() == 5U);
  CHECK(holds(text, "a.py:7 (step)"));  // in the flame graph
  CHECK(text.find('\x1b') == text.npos);
  window.show(SnapshotPage::Tab::segments);
  CHECK(holds(window.text(), "Small pool, stream 0: 8.19 kB reserved, 7.17 kB free, largest hole 7.17 kB"));
  window.show(SnapshotPage::Tab::lines);
  CHECK(holds(window.text(), "1.02 kB"));
  window.show(SnapshotPage::Tab::grows);
  CHECK(holds(window.text(), "too short"));
}

TEST_CASE("a click on an allocation names its size, its life and its stack, and shows that moment") {
  SnapshotWindow window;
  const MemoryAreas areas = window.page().areas();
  const auto run = std::ranges::find_if(areas.runs, [&](const AreaRun& r) {
    return r.block != AreaRun::kRest && window.opened->devices[0].history.blocks()[r.block].size == 2048;
  });
  REQUIRE(run != areas.runs.end());
  const auto x = static_cast<float>(run->first + run->last) / 2 / window.page().chart().width();
  const auto y = static_cast<float>(run->low + run->high) / 2 / (8192 * 1.02f);  // what is reserved is highest
  window.click(x, y);
  REQUIRE(window.page().chosen_block() == run->block);
  const std::string text = window.text();
  CHECK(holds(text, "2.05 kB at 0x1400"));
  CHECK(holds(text, "allocated by event 2, freed by event 4"));
  CHECK(window.page().wanted_event() == 2U);
  REQUIRE(window.moment);
  CHECK(window.moment->state.held.size() == 2);
  window.ui.press(Key::escape);
  CHECK_FALSE(window.page().chosen_block());
}

TEST_CASE("W and S zoom, A and D pan, F shows all") {
  SnapshotWindow window;
  const Ns whole = window.page().time().span.length();
  window.ui.hold(Key::w, 0.5);
  const Ns close = window.page().time().span.length();
  CHECK(close < whole);
  const Ns begin = window.page().time().span.begin;
  window.ui.hold(Key::d, 0.3);
  CHECK(window.page().time().span.begin > begin);
  window.ui.press(Key::f);
  CHECK(window.page().time().span.length() == whole);
  const Box& chart = window.page().chart();
  window.ui.move_to({(chart.x0 + chart.x1) / 2, (chart.y0 + chart.y1) / 2});
  window.ui.wheel = 1;
  window.ui.frames(20);
  CHECK(window.page().time().span.length() < whole);
}

TEST_CASE("a moment of a snapshot is shown in the trace of the same run, and the trace's moment in the snapshot") {
  test::TempFolder folder;
  const std::string path = folder.write("a.pickle", test::tiny_snapshot());
  const auto doc = test::document_from_text(R"({"baseTimeNanoseconds":1700000000000000000,"traceEvents":[
{"ph":"X","cat":"user_annotation","name":"step 0","pid":1,"tid":1,"ts":50,"dur":9450}]})");
  const auto opened = open_snapshot(path, {}, {}, &doc->trace);
  REQUIRE(opened.ok());
  test::HeadlessUi ui(nullptr, 1400, 800, 1, true);
  ui.input.snapshot = opened->get();
  ui.frames(3);
  const auto texts = drawn_texts(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts);
  CHECK(std::ranges::any_of(texts, [](const DrawnText& t) { return t.text == "step 0"; }));  // in the strip
  const auto button = std::ranges::find_if(texts, [](const DrawnText& t) { return t.text == "In the trace"; });
  REQUIRE(button != texts.end());
  ui.out = {};
  ui.click({(button->box.x0 + button->box.x1) / 2, (button->box.y0 + button->box.y1) / 2});
  ui.frame();
  REQUIRE(ui.out.has<OpenFile>());
  REQUIRE(ui.ui.view().window.link);
  CHECK(ui.ui.view().window.link->path == doc->trace.path);
  const Span shown =
      *ui.ui.view().window.link->time;  // of the out-of-memory, 100 us after the epoch, 50 after the trace's begin
  CHECK((shown.begin + shown.end) / 2 == 50'000);
  // The trace, then the snapshot again.
  ui.input.snapshot = nullptr;
  ui.input.document = doc.get();
  ui.frames(3);
  ui.ui.view().active().time = {{4'200'000, 4'400'000}, 0, 0};
  ui.frame();
  ui.input.document = nullptr;
  ui.input.snapshot = opened->get();
  ui.frames(2);
  CHECK(ui.ui.snapshot_page().wanted_event() == 1U);  // both events at 4,096 us are over
}

TEST_CASE("two snapshots: what is held now and was not before") {
  test::TempFolder folder;
  folder.write("a.pickle", test::tiny_snapshot());
  const std::string path = (folder.path() / "a.pickle").string();
  const auto opened = open_snapshot(path, path);
  REQUIRE(opened.ok());
  REQUIRE((*opened)->comparison);
  CHECK((*opened)->comparison->lines.empty());
  test::HeadlessUi ui(nullptr, 1400, 800, 1, true);
  ui.input.snapshot = opened->get();
  ui.frames(3);
  CHECK(ui.ui.snapshot_page().tab() == SnapshotPage::Tab::compare);
}

TEST_CASE("a snapshot that would run code is refused in a sentence") {
  test::TempFolder folder;
  folder.write("a.pickle", "\x80\x04\x8c\x05posix\x8c\x06system\x93\x8c\x02id\x85R.");
  const auto opened = open_snapshot((folder.path() / "a.pickle").string());
  REQUIRE_FALSE(opened.ok());
  CHECK(holds(opened.error().message, "a.pickle "));
}
