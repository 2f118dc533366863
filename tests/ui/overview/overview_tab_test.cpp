#include <doctest/doctest.h>

#include "core/load/load_trace.h"
#include "core/view/overview/overview_model.h"
#include "tests/support/headless_ui.h"
#include "tests/support/panel_harness.h"
#include "tests/support/real_traces.h"
#include "tests/support/tiny_traces.h"
#include "ui/panels.h"

using namespace gapscope;
using test::holds;

namespace {

struct OverviewTab {
  explicit OverviewTab(std::shared_ptr<const Trace> trace, bool diagnosed = true) : doc(std::move(trace)) {
    if (diagnosed) doc.diagnose();
  }
  std::string frame() {
    return harness.settle([this] {
      draw_overview(doc, view, out);
      for (const Request& request : out.list)
        if (const auto* ask = std::get_if<Ask>(&request); ask && doc.diagnosis()) answer_now(*ask->document, ask->question);
      out.list.clear();
    });
  }

  Document doc;
  ViewState view;
  Requests out;
  test::PanelHarness harness{{1600, 900}};
};

std::shared_ptr<const Trace> bundled(const char* name) {
  return *load_trace((test::source_folder() / "assets/traces" / (std::string(name) + ".json.gz")).string());
}

}  // namespace

TEST_CASE("the overview begins with the verdict and says what to do, how long steps are and which kernels are hottest") {
  OverviewTab tab(bundled("transformer_baseline"));
  tab.frame();
  const std::string text = tab.frame();
  CHECK(holds(text, tab.doc.diagnosis()->verdict.substr(0, 30)));
  const OverviewPage& page = *answer_to<OverviewQuestion>(tab.doc);
  REQUIRE(page.sections.size() > 4);
  const auto in_panel = [](const PageSection& section) { return section.key == "account" || section.key == "findings"; };
  for (const PageSection& section : page.sections)
    if (!in_panel(section)) CHECK(holds(text, section.title));
  tab.view.findings.open = false;
  const std::string alone = tab.frame();
  for (const PageSection& section : page.sections) CHECK(holds(alone, section.title));
}

TEST_CASE("before the findings are there the overview says so") {
  OverviewTab tab(bundled("matmul_add_64_cold_eager"), /*diagnosed=*/false);
  CHECK(holds(tab.frame(), "Working out the overview"));
}

TEST_CASE("sections go to columns in reading order, and no column is longer than it must be") {
  std::vector<PageSection> sections(5);
  for (std::size_t i = 0; i < sections.size(); ++i) sections[i].lines.resize(i == 0 ? 8 : 3);
  CHECK(columns_of(sections, 1) == std::vector<std::size_t>{0, 0, 0, 0, 0});
  CHECK(columns_of(sections, 3) == std::vector<std::size_t>{0, 1, 1, 2, 2});
  CHECK(columns_of(sections, 9).back() <= 4);
  CHECK(columns_of({}, 3).empty());
}
