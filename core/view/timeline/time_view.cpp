#include "core/view/timeline/time_view.h"

#include <algorithm>
#include <cmath>

namespace gapscope {
namespace {

constexpr double kFocusFill = 0.66;   // a focused slice leaves its neighbours in sight
constexpr double kRevealFill = 0.08;  // a revealed slice does not stick to the edge

// The axis from `begin` to `end`, both in nanoseconds after `base`.
TimeView at_offsets(Ns base, double begin, double end) {
  const double whole_begin = std::round(begin);
  const double whole_end = std::max(std::round(end), whole_begin + 1);
  TimeView view;
  view.span = {base + static_cast<Ns>(whole_begin), base + static_cast<Ns>(whole_end)};
  view.begin_rest_ns = begin - whole_begin;
  view.end_rest_ns = end - whole_end;
  return view;
}

double as_double(Ns ns) { return static_cast<double>(ns); }

double longest_visible_ns(Span trace) {
  return std::max(as_double(trace.length()) * (1 + 2 * kMarginFraction), as_double(kMinVisibleNs));
}

}  // namespace

double visible_ns(const TimeView& view) { return as_double(view.span.length()) + view.end_rest_ns - view.begin_rest_ns; }

double px_from_ns(const TimeView& view, double width_px, Ns t) {
  return (as_double(t - view.span.begin) - view.begin_rest_ns) * (width_px / visible_ns(view));
}

Ns ns_from_px(const TimeView& view, double width_px, double px) {
  return view.span.begin + static_cast<Ns>(std::llround(px * (visible_ns(view) / width_px) + view.begin_rest_ns));
}

TimeView fit(Span trace) {
  const double length = longest_visible_ns(trace);
  const double middle = as_double(trace.length()) / 2;
  return at_offsets(trace.begin, middle - length / 2, middle + length / 2);
}

TimeView focused_on(Span target, Span trace) {
  const double length = std::max(as_double(target.length()) / kFocusFill, as_double(kMinVisibleNs));
  const double middle = as_double(target.length()) / 2;
  return within_limits(at_offsets(target.begin, middle - length / 2, middle + length / 2), trace);
}

TimeView within_limits(const TimeView& view, Span trace) {
  const double longest = longest_visible_ns(trace);
  double begin = as_double(view.span.begin - trace.begin) + view.begin_rest_ns;
  const double length = std::clamp(visible_ns(view), as_double(kMinVisibleNs), longest);
  begin += (visible_ns(view) - length) / 2;
  // Half a screen of emptiness at most, and never more than the fitted view shows.
  const double margin = std::min((longest - as_double(trace.length())) / 2, length / 2);
  const double last_begin = as_double(trace.length()) + margin - length;
  begin = std::clamp(begin, std::min(-margin, last_begin), std::max(-margin, last_begin));
  return at_offsets(trace.begin, begin, begin + length);
}

TimeView zoomed(const TimeView& view, double factor, double anchor, Span trace) {
  const double old_length = visible_ns(view);
  const double length = std::clamp(old_length * factor, as_double(kMinVisibleNs), longest_visible_ns(trace));
  const double begin = view.begin_rest_ns + anchor * (old_length - length);
  return within_limits(at_offsets(view.span.begin, begin, begin + length), trace);
}

TimeView panned(const TimeView& view, double widths, Span trace) {
  const double length = visible_ns(view);
  const double begin = view.begin_rest_ns + widths * length;
  return within_limits(at_offsets(view.span.begin, begin, begin + length), trace);
}

TimeView revealed(const TimeView& view, Span target, Span trace) {
  const double length = visible_ns(view);
  const double room = length * kRevealFill;
  const double begin = as_double(target.begin - view.span.begin) - view.begin_rest_ns;
  const double end = begin + as_double(target.length());
  double shift = 0;
  if (end > length) shift = end + room - length;
  if (begin - shift < 0) shift = begin - room;
  const bool wide = as_double(target.length()) > length, shows = begin < length && end > 0;
  if (shift == 0 || (wide && shows)) return view;
  return panned(view, shift / length, trace);
}

void go_to(TraceView& view, const WindowState& window, const TimeView& to) {
  view.move = {view.time, to, 0, window.settings.animate};
  if (!window.settings.animate) view.time = to;
}

void advance_move(TraceView& view, double delta_s) {
  if (!view.move.active) return;
  view.move.elapsed_s += delta_s;
  const double x = std::min(1.0, view.move.elapsed_s / kEaseSeconds);
  if (x >= 1) {
    view.time = view.move.to;
    view.move.active = false;
    return;
  }
  const double eased = 1 - (1 - x) * (1 - x) * (1 - x);
  const TimeView& from = view.move.from;
  const TimeView& to = view.move.to;
  // Lengths change by ratio and edges follow, so that a zoom from seconds to nanoseconds looks even.
  const double ratio = std::pow(visible_ns(to) / visible_ns(from), eased);
  const double length = visible_ns(from) * ratio;
  const double way = visible_ns(from) - visible_ns(to);
  const double done = std::abs(way) < 1 ? eased : (visible_ns(from) - length) / way;
  const double begin = as_double(to.span.begin - from.span.begin) + to.begin_rest_ns - from.begin_rest_ns;
  const double at = from.begin_rest_ns + begin * done;
  view.time = at_offsets(from.span.begin, at, at + length);
}

PixelGrid::PixelGrid(const TimeView& view, int width_px, Ns origin)
    : begin_(view.span.begin),
      width_(width_px),
      px_per_ns_(width_px / visible_ns(view)),
      span_{view.span.begin - 1, view.span.end + 1} {
  const double from_origin = (as_double(begin_ - origin) + view.begin_rest_ns) * px_per_ns_;
  left_ = static_cast<std::int64_t>(std::floor(from_origin));
  shift_px_ = from_origin - std::floor(from_origin) - view.begin_rest_ns * px_per_ns_;
}

PixelGrid PixelGrid::part(int first, int width) const {
  PixelGrid grid = *this;
  grid.width_ = width;
  grid.left_ += first;
  grid.shift_px_ -= first;
  grid.span_ = {begin_of(first) - 1, begin_of(first + width) + 1};
  return grid;
}

int PixelGrid::column(Ns t) const {
  const double px = std::floor(as_double(t - begin_) * px_per_ns_ + shift_px_);
  return static_cast<int>(std::clamp(px, -1.0, width_ + 1.0));
}

Ns PixelGrid::begin_of(int column) const { return begin_ + static_cast<Ns>(std::ceil((column - shift_px_) / px_per_ns_)); }

}  // namespace gapscope
