#include "core/view/counters/counters_model.h"

#include <doctest/doctest.h>

#include "core/index/lane_index.h"
#include "core/index/link_index.h"
#include "tests/support/real_traces.h"

using namespace gapscope;

namespace {

struct Opened {
  explicit Opened(const char* name)
      : trace(test::load_once(test::recording(name))),
        lanes(*trace),
        links(*trace, lanes),
        facts(*trace, links, gpu_ops(*trace, links)) {}
  std::shared_ptr<const Trace> trace;
  LaneIndex lanes;
  LinkIndex links;
  CounterFacts facts;
};

}  // namespace

TEST_CASE("on a logarithmic axis equal ratios are equally far apart") {
  const LogAxis axis{1, 1000};
  CHECK(axis.share(1) == doctest::Approx(0));
  CHECK(axis.share(1000) == doctest::Approx(1));
  CHECK(axis.share(31.6228) == doctest::Approx(0.5));
  CHECK(axis.ticks(10) == std::vector<double>{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000});
  CHECK(axis.ticks(9) == std::vector<double>{1, 10, 100, 1000});
  CHECK(axis.ticks(3) == std::vector<double>{1, 100});
  CHECK(axis.ticks(1) == std::vector<double>{1});
  CHECK(LogAxis{3, 250}.ticks(2) == std::vector<double>{10, 100});
  CHECK(LogAxis{3, 9}.ticks(4) == std::vector<double>{5});
  CHECK(LogAxis{0.02, 0.6}.ticks(9) == std::vector<double>{0.02, 0.05, 0.1, 0.2, 0.5});
  CHECK(LogAxis{3, 4}.ticks(9).empty());
  CHECK(tick_text(5e14) == "500 T");
  CHECK(tick_text(1e15) == "1 P");
  CHECK(tick_text(0.5) == "0.5");
  CHECK(tick_text(20) == "20");
}

TEST_CASE("the products of a training lie under the roof of their GPU, by their shapes and the bytes that DRAM moved") {
  const Opened o("recorded_geglu_counters.json.gz");
  const RooflineChart chart = roofline_chart(*o.trace, o.facts);
  REQUIRE(chart.bytes_per_second);
  CHECK(*chart.bytes_per_second == doctest::Approx(2 * 3201e6 * 6016 / 8).epsilon(0.01));  // an H200's, as its driver states it
  REQUIRE(chart.roofs.size() == 1);
  CHECK(chart.roofs[0].name == "bf16 990 TFLOP/s");
  CHECK(chart.dots.size() >= 3);
  for (const RooflineChart::Dot& dot : chart.dots) {
    CAPTURE(dot_text(*o.trace, dot));
    CHECK(dot.kernel->place == KernelPlace::tensor_bound);
    CHECK(dot.point->per_second > 0.6 * chart.roofs[0].per_second);
    CHECK(dot.point->per_second <= chart.roofs[0].per_second);
    CHECK(dot.point->per_second <= dot.point->per_byte * *chart.bytes_per_second);
    CHECK(chart.per_byte.share(dot.point->per_byte) > 0);
    CHECK(chart.per_byte.share(dot.point->per_byte) < 1);
  }
}

TEST_CASE("without shapes, or without counters, there are no dots") {
  const Opened add("recorded_add_counters.json.gz"), none("mlp_geglu_eager.json.gz");
  CHECK(roofline_chart(*add.trace, add.facts).dots.empty());
  CHECK(none.facts.empty());
  CHECK(roofline_chart(*none.trace, none.facts).dots.empty());
}
