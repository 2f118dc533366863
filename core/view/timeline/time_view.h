#pragma once
// The horizontal axis: from integer nanoseconds to pixels and back, panning, zooming, easing. Pure functions of
// TimeView. Every distance is taken from the visible begin first, so that doubles stay exact at epoch-sized times.
#include "core/base/time.h"
#include "core/view/view_state.h"

namespace gapscope {

constexpr Ns kMinVisibleNs = 100;         // below this single nanoseconds would be wider than a label
constexpr double kMarginFraction = 0.02;  // of the trace on either side when all of it is visible
constexpr double kEaseSeconds = 0.15;     // a jump takes no longer than this

// Visible length, with the fractions of a nanosecond.
double visible_ns(const TimeView& view);
// Pixels from the left edge of an axis `width_px` wide; may lie far outside.
double px_from_ns(const TimeView& view, double width_px, Ns t);
// The nearest nanosecond.
Ns ns_from_px(const TimeView& view, double width_px, double px);

// All of `trace` with a little margin.
TimeView fit(Span trace);
// `target` with room on both sides: it fills about two thirds of the axis.
TimeView focused_on(Span target, Span trace);
// The nearest view that keeps the limits: at least kMinVisibleNs, at most the fitted trace, hardly beyond its ends.
TimeView within_limits(const TimeView& view, Span trace);
// Visible length times `factor`; the time at `anchor` (0 left edge, 1 right edge) stays where it is.
TimeView zoomed(const TimeView& view, double factor, double anchor, Span trace);
// Moved by `widths` visible lengths; positive looks later.
TimeView panned(const TimeView& view, double widths, Span trace);
// Moved, without a change of zoom, as little as needed to have `target` inside; a target too wide is brought to the
// left.
TimeView revealed(const TimeView& view, Span target, Span trace);

// Starts an eased move to `to`, or goes there at once.
void go_to(TraceView& view, const WindowState& window, const TimeView& to);
// The move's next picture after `delta_s` seconds.
void advance_move(TraceView& view, double delta_s);

// Columns of pixels that stay put while the view pans: column edges are anchored to the trace, so that the whole
// picture shifts by whole pixels and two neighbours never change their distance. Both ends of a slice take the same
// rule.
class PixelGrid {
 public:
  PixelGrid(const TimeView& view, int width_px, Ns origin);
  // The column that holds t, floor; clamped to [-1, width + 1].
  int column(Ns t) const;
  // The first nanosecond of a column.
  Ns begin_of(int column) const;
  int width() const { return width_; }
  // The position of column 0 among all columns of this zoom, counted from the origin: the same column of two views that
  // differ by a pan alone is `left() - other.left()` apart.
  std::int64_t left() const { return left_; }
  double px_per_ns() const { return px_per_ns_; }
  // The grid of `width` of its columns, beginning with `first`.
  PixelGrid part(int first, int width) const;
  // What has to be asked for to fill every column.
  Span span() const { return span_; }

 private:
  Ns begin_;
  int width_;
  double px_per_ns_;
  std::int64_t left_;
  double shift_px_;
  Span span_;
};

}  // namespace gapscope
