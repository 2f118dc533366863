// The idle time of a stretch, added up by blocks, against the same gap by gap.
#include "core/view/timeline/idle_sums.h"
#include "core/view/document.h"

#include <doctest/doctest.h>

#include "core/view/timeline/gap_view.h"
#include "core/view/timeline/time_view.h"
#include "tests/support/diagnosed.h"
#include "tests/support/real_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

void check_stretches(const DeviceAccount& device, const Document& document) {
  const IdleSums sums(device);
  CHECK(sums.within(device.window).time == device.times.idle_total());
  for (const Ns parts : {3, 50, 700, 20'000}) {
    const Ns length = std::max<Ns>(device.window.length() / parts, 1);
    for (Ns begin = device.window.begin - length / 2; begin < device.window.end; begin += length * (parts > 1000 ? 7 : 1)) {
      const Span span{begin, begin + length};
      CauseTimes told{};
      for (const DeviceGap& gap : device.gaps)
        if (gap.span.overlaps(span) && !span.contains(gap.span))
          told[index_of(gap.main)] += intersect(gap.span, span).length();
        else if (gap.span.overlaps(span))
          for (const HostPiece& piece : account_of(document)->pieces(gap)) told[index_of(piece.cause)] += piece.span.length();
      const IdlePart part = sums.within(span);
      CHECK(part.time == sum_of(told));
      CHECK(part.time == account_of(document)->times_in(device, span).idle_total());
      if (part.time > 0) CHECK(told[index_of(part.main)] == told[index_of(largest_of(told))]);
    }
  }
}

}  // namespace

namespace {

void check_columns(const DeviceAccount& device, const Document& document) {
  const IdleSums sums(device);
  const Span whole = document.trace.span;
  for (const Ns length : {whole.length(), whole.length() / 40}) {
    const Ns begin = whole.begin + (whole.length() - length) / 2;
    const PixelGrid grid(TimeView{{begin, begin + length}, 0, 0}, 300, whole.begin);
    std::vector<CounterColumn> columns;
    sums.columns(grid, columns);
    REQUIRE(columns.size() == 300);
    for (int x = 0; x < 300; ++x) {
      const Span span{grid.begin_of(x), grid.begin_of(x + 1)};
      const IdlePart part = sums.within(span);
      CHECK(columns[static_cast<std::size_t>(x)].high == static_cast<double>(part.time) / static_cast<double>(span.length()));
      CHECK(columns[static_cast<std::size_t>(x)].low == static_cast<double>(index_of(part.main)));
    }
  }
}

}  // namespace

TEST_CASE("the idle time of any stretch, and the cause with the most of it") {
  for (const char* name : {"transformer_baseline", "matmul_add_64_cold_eager", "recorded_streams"}) {
    CAPTURE(name);
    const Document& document = diagnosed_once(recording_or_none(name)).document;
    for (const DeviceAccount& device : account_of(document)->devices()) {
      check_stretches(device, document);
      check_columns(device, document);
    }
  }
}
