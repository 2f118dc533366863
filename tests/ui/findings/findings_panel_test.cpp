// The findings panel: the verdict, a finding's proof and remedy, going there, muting.
#include "ui/findings/findings_panel.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <string_view>

#include "core/load/load_trace.h"
#include "core/view/findings/findings_model.h"
#include "core/view/whatif/whatif_model.h"
#include "tests/support/headless_ui.h"
#include "tests/support/kineto_text.h"
#include "tests/support/panel_harness.h"
#include "tests/support/real_traces.h"
#include "tests/support/tiny_traces.h"
#include "ui/widgets/drawn_text.h"

using namespace gapscope;
using test::holds;

namespace {

// A host that works 1 ms for 3 us of GPU work.
constexpr std::string_view kSlowHost = R"json([
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1, "ts": 0, "dur": 1000},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 100, "dur": 800, "args": {"External id": 2}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 700, "dur": 10, "args": {"External id": 2, "correlation": 7}},
{"ph": "X", "cat": "kernel", "name": "my_gemm", "pid": 0, "tid": 7, "ts": 720, "dur": 3, "args": {"External id": 2, "device": 0, "stream": 7, "correlation": 7}}
])json";

struct Panel {
  explicit Panel(float height = 4000) : Panel(test::document_from_text(kSlowHost), height) {}
  explicit Panel(std::shared_ptr<const Document> of, float height = 4000) : doc(std::move(of)), harness{{340, height}} {
    doc->diagnose();
  }
  std::string frame() {
    return harness.settle([this] { draw_findings(*doc, view.active(), view.window, out); });
  }
  std::int32_t position_of(std::string_view rule) const {
    const auto& findings = doc->diagnosis()->findings;
    for (std::size_t i = 0; i < findings.size(); ++i)
      if (findings[i].finding.rule->id == rule) return static_cast<std::int32_t>(i);
    return -1;
  }
  std::shared_ptr<const Document> doc;
  ViewState view;
  Requests out;
  test::PanelHarness harness;
};

}  // namespace

TEST_CASE("the panel begins with the answer, and each finding is a line until it is chosen") {
  Panel panel;
  const std::string text = panel.frame();
  CHECK(holds(text, "A step takes"));
  REQUIRE(panel.position_of("overhead_bound") >= 0);
  const Finding& first =
      panel.doc->diagnosis()->findings[static_cast<std::size_t>(panel.position_of("overhead_bound"))].finding;
  CHECK(holds(text, std::string(first.rule->title.substr(0, 12))));
  CHECK_FALSE(holds(text, first.summary.substr(0, 24)));
  CHECK_FALSE(holds(text, "What to do"));
  panel.view.active().finding.chosen = panel.position_of("overhead_bound");
  CHECK(holds(panel.frame(), first.summary.substr(0, 24)));
}

TEST_CASE("what limits the verdict is with it, above the list") {
  Panel panel(std::make_shared<const Document>(test::load_once(test::recording("fsdp_rank0"))));
  REQUIRE_FALSE(panel.doc->diagnosis()->trust.empty());
  const std::string text = panel.frame();
  const std::size_t caveat = text.find("With a caveat");
  REQUIRE(caveat != text.npos);
  CHECK(caveat < text.find("the GPU spent"));
  CHECK(caveat < text.find("informational"));
}

TEST_CASE("the account of a file of two recordings is of their own time") {
  test::KinetoText text;
  for (int w = 0; w < 2; ++w) {
    const double begin = 5e6 + 3e7 * w;
    text.slice("Trace", "PyTorch Profiler (0)", "\"Spans\"", "\"PyTorch Profiler\"", begin, 3000);
    for (int i = 0; i < 10; ++i) text.launched(10 * w + i + 1, begin + 300 * i, begin + 300 * i + 10, 60);
  }
  const std::string shown = Panel(test::document_from_text(text.text())).frame();
  CHECK(holds(shown, " ms the GPU spent"));
  CHECK_FALSE(holds(shown, "30.0 s the GPU spent"));
}

TEST_CASE("in a low window the list has the room of the account") {
  CHECK(holds(Panel().frame(), "the GPU spent"));
  const std::string text = Panel(250).frame();
  CHECK(holds(text, "Host-bound"));
  CHECK_FALSE(holds(text, "the GPU spent"));
  CHECK(holds(text, "costly"));
}

TEST_CASE("the chosen finding shows what it means, what to do, its evidence and the guide") {
  Panel panel;
  panel.frame();
  panel.view.active().finding.chosen = panel.position_of("overhead_bound");
  const std::string text = panel.frame();
  for (const char* part : {"What it usually means", "What to do", "host busy", "From the guide", "Mute this rule"})
    CHECK(holds(text, part));
}

TEST_CASE("what proves a finding is read as words, not as the names of its figures in the file") {
  const auto is_key = [](const std::string& line) {
    const bool is_name = std::all_of(line.begin(), line.end(), [](char c) { return c == '_' || (c >= 'a' && c <= 'z'); });
    constexpr std::string_view kUnits[] = {"_us", "_share", "_total", "_count", "_bytes", "_util"};
    return is_name && std::any_of(std::begin(kUnits), std::end(kUnits), [&](auto unit) { return line.ends_with(unit); });
  };
  CHECK(is_key("host_busy_us"));
  Panel panel(std::make_shared<const Document>(*load_trace(test::recording("transformer_baseline").string())));
  REQUIRE(panel.doc->diagnosis()->findings.size() > 5);
  for (std::size_t i = 0; i < panel.doc->diagnosis()->findings.size(); ++i) {
    panel.view.active().finding.chosen = static_cast<std::int32_t>(i);
    std::istringstream words(panel.frame());
    for (std::string word; words >> word;) CHECK_MESSAGE(!is_key(word), word);
  }
}

TEST_CASE("a muted rule is silent, is counted, and is asked to be remembered") {
  Panel panel;
  panel.frame();
  panel.view.window.settings.findings.muted = {"overhead_bound"};
  const std::string text = panel.frame();
  CHECK_FALSE(holds(text, "The CPU side worked"));
  CHECK(holds(text, "1 of 1 muted rules have findings here."));
  // With every rule muted, the way back is the only thing to click.
  for (const RankedFinding& f : panel.doc->diagnosis()->findings)
    set_muted(panel.view.window.settings.findings, f.finding.rule->id, true);
  panel.frame();
  CHECK(panel.harness.click_around([&] { draw_findings(*panel.doc, panel.view.active(), panel.view.window, panel.out); },
                                   [&] { return panel.out.has<KeepMuted>(); }));
  CHECK(panel.view.window.settings.findings.muted.empty());
}

TEST_CASE("walking goes through the shown findings and around") {
  Panel panel;
  const auto rows = shown_findings(*panel.doc->diagnosis(), panel.view.window.settings.findings);
  REQUIRE(!rows.empty());
  walk_findings(*panel.doc, panel.view.active(), panel.view.window, 1);
  CHECK(panel.view.active().finding.chosen == static_cast<std::int32_t>(rows.front().finding));
  walk_findings(*panel.doc, panel.view.active(), panel.view.window, -1);
  CHECK(panel.view.active().finding.chosen == static_cast<std::int32_t>(rows.back().finding));
  CHECK(panel.view.window.settings.findings.open);
}

TEST_CASE("before the rules are through the panel says so") {
  const auto doc = test::document_from_text(kSlowHost);
  ViewState view;
  Requests out;
  test::PanelHarness harness;
  CHECK(holds(harness.settle([&] { draw_findings(*doc, view.active(), view.window, out); }), "Running the rules"));
  doc->analyze();
  const std::atomic<bool> cancelled{true};
  doc->judge(&cancelled);  // comes as far as the headline
  REQUIRE(doc->headline());
  REQUIRE(!doc->diagnosis());
  const std::string text = harness.settle([&] { draw_findings(*doc, view.active(), view.window, out); });
  CHECK(holds(text, "A step takes"));
  CHECK(holds(text, "Running the rules"));
  asked<AnalysisQuestion>(*doc).forget();  // "Try again" was pressed
  harness.settle([&] { draw_findings(*doc, view.active(), view.window, out); });
  CHECK(asked<AnalysisQuestion>(*doc).question);
}

TEST_CASE("a selected time restricts the list, says so, and can be given up there") {
  Panel panel;
  panel.view.window.settings.findings.explain = true;
  const std::size_t all = shown_findings(*panel.doc->diagnosis(), panel.view.window.settings.findings).size();
  panel.view.active().range = Span{999'998, 999'999};
  std::string text = panel.frame();
  const std::size_t here =
      shown_findings(*panel.doc->diagnosis(), panel.view.window.settings.findings, panel.view.active().range).size();
  REQUIRE(here < all);
  std::replace(text.begin(), text.end(), '\n', ' ');  // where the line wraps
  CHECK(holds(text, std::to_string(here) + " of " + std::to_string(all) +
                        " findings in the selected time; figures of the whole trace"));
  CHECK(panel.harness.click_around([&] { draw_findings(*panel.doc, panel.view.active(), panel.view.window, panel.out); },
                                   [&] { return !panel.view.active().range; }));
  CHECK_FALSE(holds(panel.frame(), "in the selected time"));
}

TEST_CASE("the gain of a line leads to its replay, and comparing says whose findings these are") {
  const Document document(test::load_once(test::recording("needless_sync")));
  document.diagnose();
  ViewState view;
  Requests out;
  test::PanelHarness harness{{340, 900}};
  const auto draw = [&] { draw_findings(document, view.active(), view.window, out); };
  const std::string text = harness.settle(draw);
  CHECK(holds(text, "Up to 63 %"));
  CHECK_FALSE(holds(text, "Trace A alone"));
  CHECK(harness.click_around(draw, [&] { return !view.active().what_if.changes.empty(); }));
  REQUIRE(view.active().what_if.changes.items.size() == 1);
  CHECK(view.active().what_if.changes.items[0].of == WhatIfItem::Of::finding);
  view.window.compare.open = true;
  CHECK(holds(harness.settle(draw), "Trace A alone"));
}

TEST_CASE("what is planned says how long a step then is, what is not what it gives alone") {
  const Document document(test::load_once(test::recording("graph_breaks")));
  document.diagnose();
  test::HeadlessUi ui(&document, 1600, 1200, 1, /*fonts=*/true);  // all of the list is in sight
  ui.frames(8);
  std::string all;
  for (const DrawnText& text : drawn_texts(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts)) all += text.text + "\n";
  CHECK(holds(all, "\u226587.0 \u00B5s"));
  CHECK(holds(all, "\u226454.9 %"));
  CHECK_FALSE(holds(all, "\u226475.4 %"));
}

TEST_CASE("what to do is numbered, and each says how long a step then is, so that the order explains itself") {
  const Document document(test::load_once(test::recording("needless_sync")));
  document.diagnose();
  const Diagnosis& diagnosis = *document.diagnosis();
  REQUIRE(diagnosis.plan.items.size() >= 2);
  for (const ImVec2 size : {ImVec2{1600, 900}, ImVec2{1000, 560}}) {
    test::HeadlessUi ui(&document, size.x, size.y, 1, /*fonts=*/true);
    ui.frames(8);
    const std::vector<DrawnText> texts = drawn_texts(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts);
    const auto find = [&](const std::string& text) {
      return std::find_if(texts.begin(), texts.end(), [&](const DrawnText& drawn) { return drawn.text == text; });
    };
    CHECK(find("now 637 \u00B5s a step") != texts.end());
    float above = 0;
    for (std::size_t i = 0; i < diagnosis.plan.items.size(); ++i) {
      const RankedFinding& finding = diagnosis.findings[static_cast<std::size_t>(diagnosis.plan.items[i].finding)];
      CHECK(place_in_plan(diagnosis, finding) == i + 1);
      const std::string title = title_of(diagnosis, *finding.finding.rule);
      CHECK(std::none_of(texts.begin(), texts.end(), [&](const DrawnText& drawn) {  // it continues in the next line
        return drawn.text.starts_with(title.substr(0, 12)) && drawn.text.ends_with("\u2026");
      }));
      const FindingFigure figure = figure_of(diagnosis, finding);
      CHECK(figure.planned);
      auto drawn = find(std::string(figure.word) + figure.text);
      if (drawn == texts.end()) drawn = find(figure.text);  // where the title has the room
      REQUIRE(drawn != texts.end());
      CHECK(drawn->box.y0 > above);
      above = drawn->box.y0;
    }
    CHECK(figure_of(diagnosis, diagnosis.findings[static_cast<std::size_t>(diagnosis.plan.items[0].finding)])
              .text.starts_with("\u2248"));
  }
}

TEST_CASE("what to do first can be read before anything is clicked, also where it is to record again") {
  const auto text_of = [](const Document& document) {
    document.diagnose();
    ViewState view;
    Requests out;
    test::PanelHarness harness{{340, 900}};
    return harness.settle([&] { draw_findings(document, view.active(), view.window, out); });
  };
  const auto recorded = [](const std::filesystem::path& file) {
    return std::make_shared<const Document>(test::load_once(file));
  };
  const auto planned = recorded(test::recording("transformer_baseline"));
  const std::string text = text_of(*planned);
  REQUIRE_FALSE(planned->diagnosis()->plan.items.empty());
  const Plan::Item& first = planned->diagnosis()->plan.items.front();
  const std::string& code = planned->diagnosis()->findings[static_cast<std::size_t>(first.finding)].finding.code;
  CHECK(holds(text, (code.empty() ? first.remedy : code).substr(0, 24)));
  CHECK(holds(text_of(*recorded(test::recordings_folder() / "modules/cnn_train.json.gz")), "Record after a few warm-up steps"));
  const auto of_host =
      test::document_from_text(R"([{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":0,"dur":9}])");
  CHECK(holds(text_of(*of_host), "No GPU work in this trace"));
}

TEST_CASE("a click on a finding leaves its line where it is, though the panel below opens and another one was open") {
  const Document document(test::load_once(test::recording("needless_sync")));
  document.diagnose();
  for (const ImVec2 size : {ImVec2{1600, 2400}, ImVec2{1600, 900}, ImVec2{1000, 560}}) {
    test::HeadlessUi ui(&document, size.x, size.y, 1, /*fonts=*/true);
    ui.ui.view().window.settings.sizes.bottom_open = size.y < 1000;  // in the tall one all of the list is in sight
    ui.frames(8);
    const auto lines_of = [&](const std::string& title) {
      std::vector<Box> boxes;
      for (const DrawnText& drawn : drawn_texts(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts))
        if (drawn.box.x0 > size.x - 330 && drawn.text.starts_with(title.substr(0, 12))) boxes.push_back(drawn.box);
      return boxes;
    };
    std::vector<std::uint32_t> tried;
    const std::vector<Box> heading = lines_of("what to do, in this order");
    REQUIRE_FALSE(heading.empty());
    float above = heading.front().y0;  // the answer above has the first title, too
    const std::vector<FindingRow> rows = shown_findings(*document.diagnosis(), ui.ui.view().window.settings.findings);
    for (const FindingRow& row : rows) {
      const std::string title = title_of(*document.diagnosis(), *document.diagnosis()->findings[row.finding].finding.rule);
      const std::vector<Box> before = lines_of(title);
      const auto first = std::find_if(before.begin(), before.end(), [&](const Box& box) { return box.y0 > above; });
      if (first == before.end()) continue;
      const Box line = *first;
      above = line.y0;
      ui.click({line.x0 + 4, line.y0 + 4});
      ui.frames(8);
      const FindingState& state = ui.ui.view().active().finding;
      CHECK(state.chosen == static_cast<std::int32_t>(row.finding));
      CHECK(state.left_open == tried);
      tried.push_back(row.finding);
      const std::vector<Box> after = lines_of(title);
      INFO(title << " was at " << line.y0 << ", is at " << (after.empty() ? -1 : after.front().y0));
      CHECK(std::any_of(after.begin(), after.end(), [&](const Box& box) { return box.y0 == line.y0; }));
    }
    CHECK(tried.size() >= (size.y > 1000 ? 2 : 1));
    walk_findings(document, ui.ui.view().active(), ui.ui.view().window, 1);  // by a key: the others close
    CHECK(ui.ui.view().active().finding.left_open.empty());
  }
}

TEST_CASE("in a roomy window what the answer and the account say is not said again above the list") {
  const std::string text = Panel().frame();
  CHECK(holds(text, "A step takes"));
  CHECK_FALSE(holds(text, "Host-bound: "));
  CHECK(text.find("informational") > text.find("costly"));
}
