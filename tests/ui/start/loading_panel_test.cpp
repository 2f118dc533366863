#include <doctest/doctest.h>

#include "tests/support/panel_harness.h"
#include "ui/app_ui.h"

using namespace gapscope;
using test::holds;

namespace {

struct Loading {
  void draw() { draw_loading(loading, view.window, out); }
  std::string frame() {
    return harness.settle([this] { draw(); });
  }
  LoadingView loading{"/data/big.json.gz", "reading", 0.25, 1 << 20, 4 << 20, 1234567, 1.0};
  ViewState view;
  Requests out;
  test::PanelHarness harness;
};

}  // namespace

TEST_CASE("a slow load shows file, stage, bytes and events") {
  const std::string text = Loading().frame();
  for (const char* part : {"/data/big.json.gz", "reading", "1.05 MB of 4.19 MB", "1,234,567 events", "Cancel"}) {
    CAPTURE(part);
    CHECK(holds(text, part));
  }
}

TEST_CASE("a load too short to notice shows nothing") {
  Loading loading;
  loading.loading.seconds = 0.1;
  CHECK_FALSE(holds(loading.frame(), "Cancel"));
}

TEST_CASE("a load of unknown length shows what it has") {
  Loading loading;
  loading.loading.bytes_total = 0;
  loading.loading.fraction = -1;
  CHECK(holds(loading.frame(), "1.05 MB  1,234,567 events"));
}

TEST_CASE("cancel asks to stop the load") {
  Loading loading;
  loading.frame();
  CHECK(loading.harness.click_around([&] { loading.draw(); }, [&] { return loading.out.has<CancelLoad>(); }));
}

TEST_CASE("a load says about how long it will take, once that is known") {
  Loading loading;
  CHECK_FALSE(holds(loading.frame(), " left"));
  loading.loading.seconds_left = 2.3;
  CHECK(holds(loading.frame(), "about 3 s left"));
}
