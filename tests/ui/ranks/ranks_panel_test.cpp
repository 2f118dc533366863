#include <doctest/doctest.h>

#include <algorithm>

#include "core/load/load_trace.h"
#include "core/view/document.h"
#include "core/view/ranks/ranks_model.h"
#include "core/view/timeline/time_view.h"
#include "tests/support/headless_ui.h"
#include "tests/support/hold_keys.h"
#include "tests/support/panel_harness.h"
#include "tests/support/real_traces.h"
#include "ui/panels.h"
#include "ui/widgets/drawn_text.h"

using namespace gapscope;
using test::holds;

namespace {

std::string file_of(const std::string& name) { return (test::recordings_folder() / "ranks" / (name + ".json.gz")).string(); }

struct RanksTab {
  explicit RanksTab(const std::string& open = "ddp_delayed_rank0") : doc(test::load_once(file_of(open))) { doc.diagnose(); }
  std::string frame() {
    return harness.settle([this] { draw(); });
  }
  void draw() {
    draw_ranks(doc, view.active(), view.window, out);
    for (const Request& request : out.list) {
      if (const auto* ask = std::get_if<Ask>(&request)) answer_now(*ask->document, ask->question);
      if (const auto* open = std::get_if<OpenFile>(&request)) opened = open->path;
    }
    out.list.clear();
  }

  Document doc;
  ViewState view;
  Requests out;
  std::string opened;
  test::PanelHarness harness{{2400, 500}};  // wide enough for the column of files
};

}  // namespace

TEST_CASE("the other ranks are not read before that is wanted") {
  RanksTab tab;
  CHECK(holds(tab.frame(), "Read the ranks in this folder"));
  CHECK_FALSE(asked<RanksQuestion>(tab.doc).question);
}

TEST_CASE(
    "a run that was opened is reported in a sentence, a row for each rank, and a click opens another rank's file at a step") {
  RanksTab tab;
  tab.view.window.ranks.paths = {file_of("ddp_delayed_rank0"), file_of("ddp_delayed_rank1")};
  tab.view.window.ranks.wanted = true;
  tab.view.window.settings.findings.open = false;  // else the sentence is there
  tab.frame();
  const std::string text = tab.frame();
  for (const std::string part : {"Rank 1 is late", "If rank 1 were on time: 64.3 ms -> 37.0 ms (-42.5 %).", "Others idled",
                                 "ddp_delayed_rank1.json.gz"}) {
    CAPTURE(part);
    CHECK(holds(text, part));
  }
  REQUIRE(tab.view.window.ranks.last);
  CHECK(holds(text, tab.view.window.ranks.last->sentence.substr(0, 20)));
  CHECK(tab.harness.click_around([&] { tab.draw(); }, [&] { return tab.opened == file_of("ddp_delayed_rank1"); }));
}

TEST_CASE("once the rank's file is open its step is shown") {
  RanksTab tab;
  tab.view.window.ranks.paths = {file_of("ddp_delayed_rank0"), file_of("ddp_delayed_rank1")};
  tab.view.window.ranks.wanted = true;
  tab.view.window.ranks.go_to = {tab.doc.trace.path, "ProfilerStep#5", {}};
  tab.frame();
  tab.frame();
  CHECK_FALSE(tab.view.window.ranks.go_to);
  REQUIRE(tab.view.active().range);
  const RankMatrix& matrix = tab.view.window.ranks.last->matrix;
  const auto step = std::find(matrix.steps.begin(), matrix.steps.end(), "ProfilerStep#5") - matrix.steps.begin();
  CHECK(*tab.view.active().range == matrix.at(0, static_cast<std::size_t>(step)).span);
}

TEST_CASE("once the rank's file is open the time that was shown of the other one is shown") {
  RanksTab tab;
  tab.view.window.settings.animate = false;
  tab.view.window.ranks.paths = {file_of("ddp_delayed_rank0"), file_of("ddp_delayed_rank1")};
  tab.view.window.ranks.wanted = true;
  const Ns middle = tab.doc.trace.span.begin + tab.doc.trace.span.length() / 2;
  tab.view.window.ranks.go_to = {tab.doc.trace.path, "", Span{middle, middle + 1'000'000}};
  tab.frame();
  tab.frame();
  CHECK_FALSE(tab.view.window.ranks.go_to);
  CHECK(tab.view.active().time.span == Span{middle, middle + 1'000'000});
}

TEST_CASE("the axis goes as far as the recordings of all ranks, and no further once another trace is open") {
  RanksTab tab("ddp_delayed_rank1");
  tab.view.window.ranks.paths = {file_of("ddp_delayed_rank0"), file_of("ddp_delayed_rank1")};
  tab.view.window.ranks.wanted = true;
  const Span own = tab.doc.trace.span;
  CHECK(axis_reach(tab.view.active(), own) == own);
  tab.frame();
  tab.frame();
  const RunReport& run = tab.view.window.ranks.last->report;
  const RankData& other = run.run.ranks[0];
  const auto here = [&](Ns t) { return run.clocks.ranks[1].in_file(run.clocks.ranks[0].on_axis(t)); };
  const Span reach = axis_reach(tab.view.active(), own);
  CHECK(reach == Span{std::min(own.begin, here(other.span.begin)), std::max(own.end, here(other.span.end))});
  CHECK(reach != own);
  tab.view.active() = view_of_next(tab.view.active());
  CHECK(axis_reach(tab.view.active(), own) == own);
}

TEST_CASE("the wheel over the bands moves the axis of the lanes, as it does there") {
  RanksTab tab;
  tab.view.window.ranks.paths = {file_of("ddp_delayed_rank0"), file_of("ddp_delayed_rank1")};
  tab.view.window.ranks.wanted = true;
  tab.view.active().time = fit(tab.doc.trace.span);
  tab.frame();
  tab.frame();
  tab.harness.point_at({600, 100});
  tab.frame();
  const Span before = tab.view.active().time.span;
  const auto wheel = [&](bool ctrl, bool shift) {
    test::hold_modifiers(ctrl, shift);
    ImGui::GetIO().MouseWheel = 1;
    tab.frame();
    test::hold_modifiers(false, false);
    tab.frame();
    return tab.view.active().time.span;
  };
  const Span zoomed_in = wheel(true, false);
  CHECK(zoomed_in.length() < before.length());
  CHECK(wheel(false, true).begin < zoomed_in.begin);
}

TEST_CASE("the title of a late rank says so where its time has no room") {
  RanksTab tab;
  tab.view.window.ranks.paths = {file_of("ddp_delayed_rank0"), file_of("ddp_delayed_rank1")};
  tab.view.window.ranks.wanted = true;
  tab.view.active().time = fit(tab.doc.trace.span);
  tab.harness.resize({900, 300});
  tab.frame();
  tab.frame();
  const std::vector<DrawnText> texts = drawn_texts(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts);
  CHECK(std::any_of(texts.begin(), texts.end(), [](const DrawnText& t) { return t.text == "late"; }));
}

TEST_CASE("of a folder with several recordings the tab says that this is one of them, and leads to the others and back") {
  RanksTab tab;
  const std::string folder = (test::recordings_folder() / "ranks").string();
  tab.view.window.ranks.paths = {folder};
  tab.view.window.ranks.wanted = true;
  tab.frame();
  REQUIRE(tab.view.window.ranks.last);
  const std::size_t others = tab.view.window.ranks.last->report.run.others.size();
  REQUIRE(others > 1);
  CHECK(holds(tab.frame(), "one of " + std::to_string(others + 1) + " recordings in this folder"));
  tab.view.window.ranks.paths = {file_of("ddp_delayed_rank0"), file_of("ddp_delayed_rank1")};
  tab.view.window.ranks.wanted = true;
  tab.frame();
  CHECK(holds(tab.frame(), "Whole folder"));
  CHECK_FALSE(holds(tab.frame(), "recordings in this folder"));
}
