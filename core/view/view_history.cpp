#include "core/view/view_history.h"

#include <cmath>

namespace gapscope {
namespace {

constexpr double kSameSpan = 0.01;    // of the visible length: less is not worth going back to
constexpr double kSameScrollPx = 10;  // half a depth

bool same_span(Span a, Span b) {
  const double slack = static_cast<double>(b.length()) * kSameSpan;
  return std::abs(static_cast<double>(a.begin - b.begin)) <= slack && std::abs(static_cast<double>(a.end - b.end)) <= slack;
}

bool same_place(const ViewPlace& a, const ViewPlace& b) {
  if (a.tab && b.tab && a.tab != b.tab) return false;
  return same_span(a.span, b.span) && std::abs(a.scroll_px - b.scroll_px) <= kSameScrollPx;
}

bool still(const ViewPlace& a, const ViewPlace& b) { return a.span == b.span && a.scroll_px == b.scroll_px; }

}  // namespace

bool ViewHistory::is_current(const ViewPlace& place) const { return !places_.empty() && same_place(place, places_[at_]); }

// What lay ahead is forgotten, as in a browser.
void ViewHistory::join(const ViewPlace& place) {
  if (is_current(place)) {
    places_[at_].selection = place.selection;
    return;
  }
  if (!places_.empty()) places_.resize(at_ + 1);
  places_.push_back(place);
  if (places_.size() > kMostPlaces) places_.erase(places_.begin());
  at_ = places_.size() - 1;
}

// The view rested at `place` for a while. On the way back the lanes may not scroll as far as they did then: the place
// is where it is now.
void ViewHistory::settle(const ViewPlace& place) {
  if (arriving_ && same_span(place.span, places_[at_].span))
    places_[at_] = {place.span, place.scroll_px, places_[at_].tab, place.selection};
  arriving_ = false;
  join(place);
}

void ViewHistory::watch(const ViewPlace& now, const ViewJump& jump, double delta_s) {
  if (watching_) {
    rested_s_ += delta_s;  // since the frame before the view rested where it was then
    if (rested_s_ >= kRestSeconds) settle(last_);
    if (jump.from != jump_.from || jump.to != jump_.to) {
      // One that cuts another one short leaves where that was going.
      if (!arriving_) join(jump_.gliding ? ViewPlace{jump_.to, last_.scroll_px, {}, last_.selection} : last_);
      arriving_ = false;
    }
  }
  if (!watching_ || !still(now, last_)) rested_s_ = 0;
  jump_ = jump;
  last_ = now;
  watching_ = true;
}

void ViewHistory::jump_to_tab(const ViewPlace& now, std::size_t from, std::size_t to) {
  arriving_ = false;
  join(now);
  places_[at_].tab = from;
  join({now.span, now.scroll_px, to, now.selection});
}

bool ViewHistory::can_go_back(const ViewPlace& now) const {
  return at_ > 0 || (!places_.empty() && !arriving_ && !is_current(now));
}

ViewPlace ViewHistory::arrive(std::size_t at) {
  at_ = at;
  arriving_ = true;
  watching_ = false;  // the move that follows is not the user's
  return places_[at_];
}

std::optional<ViewPlace> ViewHistory::back(const ViewPlace& now) {
  if (!arriving_) join(now);
  if (at_ == 0) return std::nullopt;
  return arrive(at_ - 1);
}

std::optional<ViewPlace> ViewHistory::forward(const ViewPlace& now) {
  if (!arriving_ && !is_current(now)) join(now);
  if (!can_go_forward()) return std::nullopt;
  return arrive(at_ + 1);
}

}  // namespace gapscope
