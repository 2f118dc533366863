#include "core/view/search/hit_columns.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/view/timeline/time_view.h"
#include "tests/support/hand_trace.h"
#include "tests/support/real_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

// Every hit by itself.
std::vector<bool> naive(const Trace& trace, const SearchAnswer& answer, int width) {
  std::vector<bool> columns(static_cast<std::size_t>(width), false);
  for (const SliceId hit : answer.hits) {
    const double x = std::floor(px_from_ns(fit(trace.span), static_cast<double>(width), trace.begin(hit)));
    if (x >= 0 && x < width) columns[static_cast<std::size_t>(x)] = true;
  }
  return columns;
}

}  // namespace

TEST_CASE("the columns of hits are those that a look at every hit gives") {
  const auto trace = hand_trace({{"GPU 0",
                                  "stream 7",
                                  LaneKind::gpu_stream,
                                  {{{"gemm", 0, 10}, {"add", 100, 110}, {"gemm", 101, 400}, {"gemm", 990, 1000}}}}});
  for (const char* text : {"gemm", "add", "nowhere"}) {
    const SearchAnswer answer = find_slices(*trace, {text, false});
    for (const int width : {1, 7, 100, 1000}) CHECK(hit_columns(*trace, answer, width) == naive(*trace, answer, width));
  }
  CHECK(hit_columns(*trace, find_slices(*trace, {"gemm", false}), 0).empty());
  const auto loaded = load_once(real_traces().front());
  const SearchAnswer answer = find_slices(*loaded, {"a", false});
  REQUIRE(answer.hits.size() > 1);
  CHECK(hit_columns(*loaded, answer, 1300) == naive(*loaded, answer, 1300));
}

TEST_CASE("kept columns follow the result and the width, and go with the search") {
  const auto trace = hand_trace({{"GPU 0", "stream 7", LaneKind::gpu_stream, {{{"gemm", 0, 10}, {"add", 500, 1000}}}}});
  const auto gemm = std::make_shared<const SearchAnswer>(find_slices(*trace, {"gemm", false}));
  const auto add = std::make_shared<const SearchAnswer>(find_slices(*trace, {"add", false}));
  HitColumns kept;
  CHECK(kept.of(*trace, gemm, 50) == naive(*trace, *gemm, 50));
  CHECK(kept.of(*trace, add, 50) == naive(*trace, *add, 50));
  CHECK(kept.of(*trace, add, 80) == naive(*trace, *add, 80));
  CHECK(kept.of(*trace, nullptr, 80).empty());
}
