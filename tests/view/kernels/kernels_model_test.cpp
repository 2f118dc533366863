#include "core/view/kernels/kernels_model.h"

#include <doctest/doctest.h>

#include "core/view/gpu/gaps_model.h"
#include "tests/support/hand_trace.h"

using namespace gapscope;

namespace {

// Three runs of "a" (10, 20, 90 ns), one of "b" (40 ns), on one stream.
std::shared_ptr<Trace> three_and_one() {
  auto trace = test::hand_trace({{"GPU 0",
                                  "stream 7",
                                  LaneKind::gpu_stream,
                                  {{{"a", 0, 10, Kind::kernel},
                                    {"b", 20, 60, Kind::kernel},
                                    {"a", 100, 120, Kind::kernel},
                                    {"a", 200, 290, Kind::kernel}}}}});
  return trace;
}

using Rows = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("every run of the chosen kernel falls in one bin of its histogram") {
  const auto trace = three_and_one();
  const std::vector<SliceId> named{SliceId(0u), SliceId(2u), SliceId(3u)};
  const KernelCalls calls = kernel_calls(*trace, named, trace->strings.find("a"), {});
  CHECK(calls.slices == named);
  CHECK(calls.longest == 90);
  for (const SliceId s : calls.slices) {
    const auto bin = bin_of(calls.histogram, trace->duration(s));
    REQUIRE(bin.has_value());
    CHECK(calls.histogram.counts[*bin] > 0);
  }
  CHECK_FALSE(bin_of(calls.histogram, 1'000'000).has_value());
  CHECK_FALSE(bin_of({}, 5).has_value());
  CHECK(kernel_calls(*trace, named, trace->strings.find("a"), Span{50, 150}).slices == std::vector<SliceId>{SliceId(2u)});
}

TEST_CASE("idle gaps are listed longest first, or as another column says") {
  const auto trace = three_and_one();
  IdleGaps gaps(*trace);
  for (std::size_t i = 0; i < 3; ++i) {
    IdleGap gap;
    gap.before = SliceId(i), gap.after = SliceId(i + 1);
    gaps.add(gap);
  }
  CHECK(gaps[1].span == Span{60, 100});
  CHECK(arrange_gaps(*trace, gaps, {}, {}) == Rows{2, 1, 0});
  CHECK(arrange_gaps(*trace, gaps, {{}, RowOrder{0, false}}, {}) == Rows{0, 1, 2});
  CHECK(arrange_gaps(*trace, gaps, {}, Span{70, 80}) == Rows{1});  // only what is in the range
}
