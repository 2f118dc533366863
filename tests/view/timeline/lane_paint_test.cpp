#include "core/view/timeline/lane_paint.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/support/hand_trace.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

constexpr int kWidth = 300;

// Slices of many lengths side by side, from nothing to a thousand nanoseconds, some touching, some with gaps.
std::shared_ptr<const Trace> many_slices() {
  std::vector<HandSlice> slices;
  Ns t = 1'000'000'000'000;
  unsigned random = 7;
  for (int i = 0; i < 5'000; ++i) {
    random = random * 1'664'525u + 1'013'904'223u;
    const Ns length = (random >> 20) % 10 == 0 ? (random >> 8) % 1000 : (random >> 8) % 12;
    slices.push_back({"s", t, t + length});
    t += length + ((random >> 16) % 3 == 0 ? (random >> 5) % 40 : 0) + (length == 0 ? 1 : 0);
  }
  return hand_trace({{"p", "t", LaneKind::cpu_thread, {slices}}});
}

std::vector<SliceRect> painted(const Trace& trace, const TimeView& view) {
  const LaneIndex lanes(trace);
  SliceColours colours(trace);
  std::vector<VisibleItem> scratch;
  std::vector<SliceRect> rects;
  paint_row(trace, lanes.slices_of(RowId(0)), PixelGrid(view, kWidth, trace.span.begin), 4, 19, colours, scratch, rects);
  return rects;
}

}  // namespace

TEST_CASE("no two rectangles of a row share a pixel column and all lie inside, at every zoom") {
  const auto trace = many_slices();
  TimeView view = fit(trace->span);
  for (int i = 0; i < 60; ++i) {
    int last = 0;
    for (const SliceRect& rect : painted(*trace, view)) {
      CHECK(rect.x0 >= last);
      CHECK(rect.x1 > rect.x0);
      CHECK(rect.x1 <= kWidth);
      last = rect.x1;
    }
    view = zoomed(view, 0.8, 0.43, trace->span);
  }
}

TEST_CASE("every slice of the visible time is in exactly one rectangle") {
  const auto trace = many_slices();
  std::size_t count = 0;
  for (const SliceRect& rect : painted(*trace, fit(trace->span))) count += rect.count;
  CHECK(count == trace->slice_count());
}

TEST_CASE("a slice narrower than a pixel still takes one") {
  const auto trace = hand_trace({{"p", "t", LaneKind::cpu_thread, {{{"tiny", 500, 501}, {"late", 900'000, 1'000'000}}}}});
  const auto rects = painted(*trace, fit(trace->span));
  REQUIRE(rects.size() == 2);
  CHECK(rects[0].width() == 1);
}

TEST_CASE("slices that touch in time touch on screen") {
  const auto trace = hand_trace({{"p", "t", LaneKind::cpu_thread, {{{"a", 0, 333}, {"b", 333, 707}, {"c", 707, 1'000}}}}});
  TimeView view = fit(trace->span);
  for (int i = 0; i < 200; ++i) {
    const auto rects = painted(*trace, view);
    for (std::size_t k = 1; k < rects.size(); ++k) CHECK(rects[k].x0 == rects[k - 1].x1);
    view = zoomed(view, 0.995, 0.5, trace->span);
  }
}

TEST_CASE("a folded run is spoken for by its longest slice") {
  const auto trace = hand_trace({{"p", "t", LaneKind::cpu_thread, {{{"a", 10, 11}, {"long", 20, 26}, {"c", 30, 31}}}}});
  const auto rects = painted(*trace, fit({0, 1'000'000}));
  REQUIRE(rects.size() == 1);
  CHECK(rects[0].count == 3);
  CHECK(trace->name(rects[0].slice) == "long");
  CHECK(rects[0].span == Span{10, 31});
}

TEST_CASE("every rectangle is spoken for by the longest of its slices, at every zoom") {
  const auto trace = many_slices();
  TimeView view = fit(trace->span);
  for (int i = 0; i < 20; ++i) {
    for (const SliceRect& rect : painted(*trace, view)) {
      Ns longest = 0;
      for (std::uint32_t s = 0; s < trace->slice_count(); ++s) {
        if (rect.span.contains(trace->span_of(SliceId(s)))) longest = std::max(longest, trace->duration(SliceId(s)));
      }
      CHECK(trace->duration(rect.slice) == longest);
    }
    view = zoomed(view, 0.7, 0.43, trace->span);
  }
}

TEST_CASE("instants of one column are one mark") {
  const auto made = hand_trace({{"p", "t", LaneKind::cpu_thread, {{{"a", 0, 1'000}}}}});
  Trace& trace = *made;
  for (const Ns t : {100, 101, 102, 700}) trace.instants.push_back({t, {}, LaneId(0), 0, kNoOffset});
  trace.lanes[0].instant_count = 4;
  std::vector<InstantMark> marks;
  paint_instants(trace, LaneId(0), PixelGrid(fit(trace.span), 100, 0), marks);
  REQUIRE(marks.size() == 2);
  CHECK(marks[0].count == 3);
  CHECK(marks[1].first == 3);
}
