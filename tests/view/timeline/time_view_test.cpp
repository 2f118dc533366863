#include "core/view/timeline/time_view.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/view/timeline/first_view.h"

using namespace gapscope;

namespace {

constexpr Ns kEpoch = 1'700'000'000'000'000'000;  // a time since 1970: doubles step by 256 ns here
constexpr Span kTrace{kEpoch, kEpoch + 10 * kNsPerS};
constexpr double kWidth = 1400;

}  // namespace

TEST_CASE("a zoom about the pointer keeps the time under the pointer") {
  const double px = 433;
  TimeView view = zoomed(fit(kTrace), 0.1, px / kWidth, kTrace);  // away from the ends, where the limits may win
  const Ns before = ns_from_px(view, kWidth, px);
  for (int i = 0; i < 60; ++i) {
    view = zoomed(view, 0.9, px / kWidth, kTrace);
    CHECK(std::abs(ns_from_px(view, kWidth, px) - before) <= 1);
  }
}

TEST_CASE("zooming in stops at the least visible length and zooming out at the whole trace") {
  TimeView view = fit(kTrace);
  for (int i = 0; i < 400; ++i) view = zoomed(view, 0.9, 0.5, kTrace);
  CHECK(visible_ns(view) == doctest::Approx(static_cast<double>(kMinVisibleNs)));
  for (int i = 0; i < 800; ++i) view = zoomed(view, 1.1, 0.5, kTrace);
  CHECK(view.span == fit(kTrace).span);
}

TEST_CASE("a slow pan in the deepest zoom does not stall") {
  TimeView view = fit(kTrace);
  for (int i = 0; i < 400; ++i) view = zoomed(view, 0.9, 0.5, kTrace);
  const Ns before = view.span.begin;
  for (int i = 0; i < 1000; ++i) view = panned(view, 0.0005, kTrace);  // 0.05 ns each: far less than one nanosecond
  CHECK(view.span.begin - before >= 49);
  CHECK(view.span.begin - before <= 51);
}

TEST_CASE("panning stops a little beyond the ends of the trace") {
  TimeView view = zoomed(fit(kTrace), 0.01, 0.5, kTrace);
  for (int i = 0; i < 500; ++i) view = panned(view, 0.5, kTrace);
  CHECK(view.span.end > kTrace.end);
  CHECK(view.span.begin < kTrace.end);
  for (int i = 0; i < 500; ++i) view = panned(view, -0.5, kTrace);
  CHECK(view.span.begin < kTrace.begin);
  CHECK(view.span.end > kTrace.begin);
}

TEST_CASE("a trace shorter than the least visible length is shown in its middle") {
  const Span tiny{kEpoch, kEpoch + 4};
  const TimeView view = fit(tiny);
  CHECK(visible_ns(view) == doctest::Approx(static_cast<double>(kMinVisibleNs)));
  CHECK(px_from_ns(view, kWidth, kEpoch + 2) == doctest::Approx(kWidth / 2));
  CHECK(panned(view, 3, tiny).span == view.span);
}

TEST_CASE("pixels and nanoseconds go there and back at epoch-sized times") {
  const TimeView view = focused_on({kEpoch + 5'000'000'123, kEpoch + 5'000'000'523}, kTrace);
  for (Ns t = view.span.begin; t < view.span.end; t += 7) CHECK(ns_from_px(view, kWidth, px_from_ns(view, kWidth, t)) == t);
}

TEST_CASE("columns never run backwards in time, at any zoom") {
  TimeView view = fit(kTrace);
  for (int i = 0; i < 150; ++i) {
    view = zoomed(view, 0.87, 0.37, kTrace);
    const PixelGrid grid(view, 1400, kTrace.begin);
    const Ns edge = view.span.begin + view.span.length() / 3;
    CHECK(grid.column(edge - 1) <= grid.column(edge));
    CHECK(grid.column(edge) <= grid.column(edge + 1));
  }
}

TEST_CASE("while panning all columns shift together") {
  TimeView view = zoomed(fit(kTrace), 0.001, 0.4, kTrace);
  const Ns a = view.span.begin + view.span.length() / 2;
  const Ns b = a + view.span.length() * 10 / 73;  // no whole number of pixels
  const PixelGrid before(view, 1400, kTrace.begin);
  for (int i = 0; i < 300; ++i) {
    view = panned(view, 0.00037, kTrace);
    const PixelGrid grid(view, 1400, kTrace.begin);
    CHECK(grid.column(b) - grid.column(a) == before.column(b) - before.column(a));
  }
}

TEST_CASE("a view asked for from outside is brought within the limits") {
  CHECK(within_limits({{kTrace.begin + 50, kTrace.begin + 51}, 0, 0}, kTrace).span.length() == kMinVisibleNs);
  CHECK(within_limits({{0, kTrace.end * 2}, 0, 0}, kTrace).span == fit(kTrace).span);
  CHECK(within_limits({{0, 1000}, 0, 0}, kTrace).span.end > kTrace.begin);
}

TEST_CASE("times far outside the axis land just outside it") {
  const PixelGrid grid(zoomed(fit(kTrace), 1e-7, 0.5, kTrace), 1400, kTrace.begin);
  CHECK(grid.column(kTrace.begin) == -1);
  CHECK(grid.column(kTrace.end) == 1401);
}

TEST_CASE("a move eases from where it was to where it goes") {
  ViewState view;
  view.active().time = fit(kTrace);
  const TimeView to = focused_on({kTrace.begin + kNsPerS, kTrace.begin + kNsPerS + 1000}, kTrace);
  go_to(view.active(), view.window, to);
  CHECK(view.active().time.span == fit(kTrace).span);
  advance_move(view.active(), kEaseSeconds / 2);
  CHECK(visible_ns(view.active().time) < visible_ns(fit(kTrace)));
  CHECK(visible_ns(view.active().time) > visible_ns(to));
  advance_move(view.active(), kEaseSeconds);
  CHECK(view.active().time.span == to.span);
  CHECK_FALSE(view.active().move.active);
}

TEST_CASE("without animation a move is done at once") {
  ViewState view;
  view.active().time = fit(kTrace);
  view.window.settings.animate = false;
  const TimeView to = zoomed(view.active().time, 0.1, 0.5, kTrace);
  go_to(view.active(), view.window, to);
  CHECK(view.active().time.span == to.span);
}

TEST_CASE("a jump to what is too short to be seen zooms in, one to what is longer than the axis zooms out, and no other does") {
  Trace trace;
  trace.span = kTrace;
  ViewState view;
  view.window.settings.animate = false;
  const auto after = [&](Span from, Ns length) {
    view.active().time = within_limits(TimeView{from, 0, 0}, kTrace);
    const Ns middle = from.begin + from.length() / 2;
    enlarge(view.active(), view.window, {middle, middle + length}, trace);
    return visible_ns(view.active().time) / static_cast<double>(length);
  };
  const Ns all = kTrace.length();
  CHECK(after(kTrace, all / 10) == doctest::Approx(10).epsilon(0.1));
  CHECK(after(kTrace, all / 1000) == doctest::Approx(9).epsilon(0.1));
  CHECK(after({kTrace.begin + all / 2, kTrace.begin + all / 2 + all / 100}, all / 10) == doctest::Approx(1.5).epsilon(0.1));
}

TEST_CASE("revealing pans no more than needed and leaves a visible slice alone") {
  const TimeView view = zoomed(fit(kTrace), 0.1, 0.5, kTrace);
  const Ns middle = view.span.begin + view.span.length() / 2;
  CHECK(revealed(view, {middle, middle + 10}, kTrace).span == view.span);
  const TimeView later = revealed(view, {view.span.end + 1000, view.span.end + 2000}, kTrace);
  CHECK(later.span.end > view.span.end + 2000);
  CHECK(later.span.begin < view.span.begin + view.span.length() / 2);
  CHECK(visible_ns(later) == doctest::Approx(visible_ns(view)));
}
