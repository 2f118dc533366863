// The tab Counters: what it says of kernels and of the roof, and what a click on a row leads to.
#include <doctest/doctest.h>

#include "core/load/load_trace.h"
#include "core/view/document.h"
#include "tests/support/panel_harness.h"
#include "tests/support/real_traces.h"
#include "ui/panels.h"

using namespace gapscope;
using test::holds;

namespace {

struct CountersUnderTest {
  explicit CountersUnderTest(const char* name) : doc(std::make_shared<const Document>(test::load_once(test::recording(name)))) {
    doc->analyze();
  }
  std::string frame() {
    return harness.settle([this] { draw_counters_panel(*doc, view.active(), view.window, out); });
  }
  std::shared_ptr<const Document> doc;
  ViewState view;
  Requests out;
  test::PanelHarness harness{{1600, 400}};
};

}  // namespace

TEST_CASE("kernels are listed with what bounds them, products with their place under the roof") {
  CountersUnderTest tab("recorded_geglu_counters.json.gz");
  const std::string text = tab.frame();
  for (const char* part : {"tensor", "memory", "Roofline of GPU 0", "SM active", "sgd"}) {
    CAPTURE(part);
    CHECK(holds(text, part));
  }
}

TEST_CASE("without shapes the roof says that they are missing") {
  CountersUnderTest tab("recorded_add_counters.json.gz");
  const std::string text = tab.frame();
  CHECK(holds(text, "No operator of this trace states its shapes."));
  CHECK_FALSE(holds(text, "record_shapes=True"));  // gapscope record made it, which has no such option
}

TEST_CASE("a click on a row selects a launch of its name") {
  CountersUnderTest tab("recorded_geglu_counters.json.gz");
  tab.frame();
  CHECK(tab.harness.click_around([&] { draw_counters_panel(*tab.doc, tab.view.active(), tab.view.window, tab.out); },
                                 [&] { return tab.view.active().selection.valid(); }));
  CHECK(tab.doc->trace.kind(tab.view.active().selection) == Kind::kernel);
}
