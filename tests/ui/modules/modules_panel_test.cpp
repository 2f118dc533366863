#include <doctest/doctest.h>

#include "core/base/table/output.h"
#include "core/view/modules/modules_model.h"
#include "tests/support/headless_ui.h"
#include "tests/support/panel_harness.h"
#include "tests/support/table_columns.h"
#include "tests/support/tiny_traces.h"
#include "ui/panels.h"

using namespace gapscope;
using test::holds;

namespace {

// A module in another one, a kernel launched in each.
constexpr std::string_view kModules = R"json({"schemaVersion": 1, "traceEvents": [
{"ph": "X", "cat": "python_function", "name": "nn.Module: Net_0", "pid": 1, "tid": 1, "ts": 100, "dur": 800, "args": {}},
{"ph": "X", "cat": "python_function", "name": "nn.Module: Linear_0", "pid": 1, "tid": 1, "ts": 200, "dur": 300, "args": {}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 250, "dur": 10, "args": {"correlation": 1}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 600, "dur": 10, "args": {"correlation": 2}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 300, "dur": 100, "args": {"device": 0, "stream": 7, "correlation": 1}},
{"ph": "X", "cat": "kernel", "name": "relu", "pid": 0, "tid": 7, "ts": 700, "dur": 40, "args": {"device": 0, "stream": 7, "correlation": 2}}
]})json";

struct ModulesTab {
  explicit ModulesTab(std::string_view text) : doc(test::document_from_text(text)) {}
  std::string frame() {
    return harness.settle([this] { draw(); });
  }
  void draw() {
    draw_modules(*doc, view.active(), view.window, out);
    for (const Request& request : out.list)
      if (const auto* ask = std::get_if<Ask>(&request)) answer_now(*ask->document, ask->question);
    out.list.clear();
  }

  std::shared_ptr<const Document> doc;
  ViewState view;
  Requests out;
  test::PanelHarness harness{{1600, 500}};
};

}  // namespace

TEST_CASE("modules stand under those that called them, with the GPU work that they launched") {
  ModulesTab tab(kModules);
  tab.frame();
  const std::string text = tab.frame();
  for (const char* part :
       {"Net_0", "Linear_0", "140 µs", "100 µs", "In no module: 0", "record_shapes=True", "profile_memory=True"})
    CHECK(holds(text, part));
  CHECK(tab.harness.click_around([&] { tab.draw(); }, [&] { return tab.view.active().selection.valid(); }));
}

TEST_CASE("with a time marked, modules say that they are of the whole recording") {
  ModulesTab tab(kModules);
  tab.frame();
  CHECK_FALSE(holds(tab.frame(), "Of the whole recording"));
  tab.view.active().range = Span{tab.doc->trace.span.begin, tab.doc->trace.span.begin + 100};
  CHECK(holds(tab.frame(), "For the whole recording, not for the selected time."));
}

TEST_CASE("a trace without modules says what to record") {
  ModulesTab tab(test::kOneLaunch);
  tab.frame();
  CHECK(holds(tab.frame(), "with_stack=True"));
}

TEST_CASE("rows by instance are sorted and filtered, and their slices are their frames") {
  const auto doc = test::document_from_text(kModules);
  const auto use = answer(*doc, ModulesQuestion{}, nullptr);
  REQUIRE(use);
  const ModuleRows instances = module_rows(*use, ModuleList::instances), classes = module_rows(*use, ModuleList::classes);
  const RowOrder by_name = test::by(instances, "name", false);
  const auto rows = arrange(instances, {"", by_name});
  REQUIRE(rows.size() == 2);
  CHECK(name_of(*use, ModuleList::instances, rows[0]) == "Linear_0");
  CHECK(arrange(instances, {"net", by_name}).size() == 1);
  const auto slices = slices_of_row(*doc, *use, ModuleList::instances, rows[0]);
  REQUIRE(slices.size() == 1);
  CHECK(doc->trace.name(slices[0]) == "nn.Module: Linear_0");
  CHECK(holds(csv_of(classes, first_rows(classes, 9)), "Linear (1),0,1,300000,100000,0,100000,0,1,0,0,0,0\n"));
}
