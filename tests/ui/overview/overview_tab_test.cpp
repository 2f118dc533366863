#include <doctest/doctest.h>

#include <algorithm>

#include "core/load/load_trace.h"
#include "core/replay/plain_program.h"
#include "core/view/overview/overview_model.h"
#include "core/view/timeline/time_view.h"
#include "tests/support/headless_ui.h"
#include "tests/support/panel_harness.h"
#include "tests/support/real_traces.h"
#include "tests/support/tiny_traces.h"
#include "ui/panels.h"
#include "ui/widgets/drawn_text.h"

using namespace gapscope;
using test::holds;

namespace {

struct OverviewTab {
  explicit OverviewTab(std::shared_ptr<const Trace> trace, bool diagnosed = true) : doc(std::move(trace)) {
    if (diagnosed) doc.diagnose();
  }
  std::string frame() {
    return harness.settle([this] {
      draw_overview(doc, view, window, out);
      for (const Request& request : out.list)
        if (const auto* ask = std::get_if<Ask>(&request); ask && doc.diagnosis()) answer_now(*ask->document, ask->question);
      out.list.clear();
    });
  }

  Document doc;
  TraceView view;
  WindowState window;
  Requests out;
  test::PanelHarness harness{{1600, 900}};
};

std::shared_ptr<const Trace> bundled(const char* name) { return test::load_once(test::recording(name)); }

}  // namespace

TEST_CASE("the overview begins with the verdict and says what to do, how long steps are and which kernels are hottest") {
  OverviewTab tab(bundled("transformer_baseline"));
  tab.frame();
  const std::string text = tab.frame();
  const OverviewPage& page = *answer_to<OverviewQuestion>(tab.doc);
  REQUIRE(page.sections.size() > 4);
  const std::string verdict = tab.doc.diagnosis()->verdict.substr(0, 30);
  // Verdict, plan, findings and the bars of the account are in the panel at the right.
  CHECK_FALSE(holds(text, verdict));
  for (const PageSection& section : page.sections)
    CHECK(holds(text, section.title) == (section.key != "findings" && section.key != "plan" && section.key != "account"));
  tab.window.settings.findings.open = false;
  const std::string alone = tab.frame();
  CHECK(holds(alone, verdict));
  for (const PageSection& section : page.sections) CHECK(holds(alone, section.title));
}

TEST_CASE("with the tab Overview open the window says verdict and account once") {
  const Document document(test::load_plain(test::recordings_folder() / "plain/python_heavy_full.json.xz"));
  document.diagnose();
  REQUIRE(document.headline()->plain_times);
  const std::string verdict = document.headline()->words.what.substr(0, document.headline()->words.what.find(':') + 1);
  for (const ImVec2 size : {ImVec2{1600, 900}, ImVec2{900, 560}}) {
    test::HeadlessUi ui(&document, size.x, size.y, 1, /*fonts=*/true);
    show_panel(ui.ui.view().window, "overview");
    for (int i = 0; i < 8; ++i) {
      ui.frame();
      for (const Request& request : ui.out.list)
        if (const auto* ask = std::get_if<Ask>(&request)) answer_now(*ask->document, ask->question);
      ui.out.list.clear();
    }
    const auto times = [&](const std::string& words) {
      const std::vector<DrawnText> texts = drawn_texts(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts);
      return std::count_if(texts.begin(), texts.end(), [&](const DrawnText& text) { return text.text.starts_with(words); });
    };
    CHECK(times("Without the profiler a step takes") == 1);
    CHECK(times(verdict) == (size.x > 1000 ? 0 : 1));  // else the mark at the top says it, the rest the answer and the account
    CHECK(times("as recorded, of") == 1);              // the GPU's line, whose figures are not those of the verdict
    CHECK(times("Without the profiler, of") == 1);
    CHECK(times("As recorded, of") == 0);  // in the low window it is behind the edge of the tab
  }
}

TEST_CASE("the overview of a rank says what the run as a whole waits for, once it was opened as a run") {
  const auto file = [](const char* name) { return test::recording(name).string(); };
  OverviewTab tab(test::load_once(file("ddp_delayed_rank0")));
  tab.frame();
  CHECK_FALSE(holds(tab.frame(), "Rank 1 is late"));
  tab.window.settings.findings.open = false;  // else the answer says it
  tab.window.ranks.paths = {file("ddp_delayed_rank0"), file("ddp_delayed_rank1")};
  tab.window.ranks.wanted = true;
  tab.frame();
  CHECK(holds(tab.frame(), "If rank 1 were on time: 64.3 ms -> 37.0 ms (-42.5 %)."));
}

TEST_CASE("the field of the step time shows what is stated, and a hint where nothing is") {
  const auto shown = [](std::optional<StepTime> stated) {
    OverviewTab tab(test::load_plain(test::recording("transformer_baseline"), stated));
    const bool hints = holds(tab.frame(), "e.g. 35 ms");
    CHECK(hints == tab.view.step_time.empty());
    return tab.view.step_time;
  };
  CHECK(shown(std::nullopt).empty());
  CHECK(shown(StepTime(12'345'000)) == "12.345 ms");
}

TEST_CASE("before the findings are there the overview says so") {
  OverviewTab tab(bundled("matmul_add_64_cold_eager"), /*diagnosed=*/false);
  tab.window.settings.findings.open = false;
  CHECK(holds(tab.frame(), "Computing the overview"));
  tab.doc.analyze();
  const std::atomic<bool> cancelled{true};
  tab.doc.judge(&cancelled);  // comes as far as the headline
  REQUIRE(tab.doc.headline());
  CHECK(holds(tab.frame(), tab.doc.headline()->verdict.substr(0, 30)));
  CHECK(holds(tab.frame(), "Preparing the overview"));
  asked<AnalysisQuestion>(tab.doc).forget();  // "Try again" was pressed
  tab.frame();
  CHECK(asked<AnalysisQuestion>(tab.doc).question);
}

TEST_CASE("the first sections stand at the top of the columns, and the others where there is most room") {
  std::vector<PageSection> sections(5);
  for (std::size_t i = 0; i < sections.size(); ++i) sections[i].lines.resize(i == 0 ? 8 : 3);
  CHECK(columns_of(sections, 1) == std::vector<std::size_t>{0, 0, 0, 0, 0});
  CHECK(columns_of(sections, 3) == std::vector<std::size_t>{0, 1, 2, 1, 2});
  CHECK(columns_of(sections, 9).back() == 4);
  CHECK(columns_of({}, 3).empty());
}

TEST_CASE("a bar says how long the GPU works in it, also of a pass of a serving engine") {
  OverviewTab tab(*load_trace_from_text(R"json({"schemaVersion": 1, "traceEvents": [
{"ph": "X", "cat": "user_annotation", "name": "execute_context_1(8)_generation_0(0)", "pid": 1, "tid": 1, "ts": 100, "dur": 900, "args": {"External id": 1}},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 110, "dur": 40, "args": {"External id": 2}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 120, "dur": 10, "args": {"External id": 2, "correlation": 7}},
{"ph": "X", "cat": "kernel", "name": "my_gemm", "pid": 0, "tid": 7, "ts": 140, "dur": 400, "args": {"External id": 2, "device": 0, "stream": 7, "correlation": 7}}
]})json"));
  tab.frame();
  REQUIRE(tab.doc.analysis()->steps().steps.size() == 1);
  bool said = false;
  for (float y = 40; y < 400 && !said; y += 12)
    for (float x = 20; x < 1600 && !said; x += 100) {
      tab.harness.point_at({x, y});
      said = holds(tab.frame(), "GPU busy");
    }
  CHECK(said);
}

TEST_CASE("a click on a step's bar zooms to it, one on a remedy shows its finding, one on a kernel its longest run") {
  OverviewTab tab(bundled("transformer_baseline"));
  tab.window.settings.findings.open = false;
  tab.view.time = fit(tab.doc.trace.span);
  tab.frame();
  tab.frame();
  const std::vector<Step>& steps = tab.doc.analysis()->steps().steps;
  REQUIRE(steps.size() == 3);
  const auto frame = [&] {
    tab.window.settings.findings.open = false;  // a click on a remedy opens them
    draw_overview(tab.doc, tab.view, tab.window, tab.out);
  };
  tab.window.settings.animate = false;
  CHECK(tab.harness.click_around(frame, [&] { return tab.view.selection == steps[1].slice; }));
  CHECK(tab.view.time.span.contains(steps[1].span.begin));
  CHECK(tab.view.time.span.length() < tab.doc.trace.span.length() * 3 / 4);
  CHECK(tab.harness.click_around(frame, [&] { return tab.view.finding.chosen >= 0; }));
  CHECK(tab.harness.click_around(frame,
                                 [&] { return tab.view.selection && tab.doc.trace.kind(tab.view.selection) == Kind::kernel; }));
}
