#pragma once
// Where the timeline has been, to go back to: a place joins when the view rested on it for kRestSeconds, or when a jump
// left it. A tab that a jump opened is part of its place. Bounded; the oldest places are forgotten. Pure: fed once a frame with
// where the view is now.
#include <cstddef>
#include <optional>
#include <vector>

#include "core/base/ids.h"
#include "core/base/time.h"

namespace gapscope {

constexpr double kRestSeconds = 0.7;      // long enough that a pause between two moves is none
constexpr std::size_t kMostPlaces = 100;  // a list of spans; more than anybody walks back

constexpr std::size_t kNoTab = static_cast<std::size_t>(-1);  // the panels below the lanes were hidden

struct ViewPlace {
  Span span;                            // of the axis
  double scroll_px = 0;                 // of the lanes, at scale 1
  std::optional<std::size_t> tab = {};  // below the lanes, in the order of the panels; none: whichever is open
  SliceId selection = {};               // when it was left; no part of what makes two places different
};

// The last jump: its ends, and whether it is still under way. Other ends than in the frame before are a new jump.
struct ViewJump {
  Span from, to;
  bool gliding = false;
};

class ViewHistory {
 public:
  // One frame, `delta_s` after the one before.
  void watch(const ViewPlace& now, const ViewJump& jump, double delta_s);
  // A jump from one tab to another, where the timeline stays `now`.
  void jump_to_tab(const ViewPlace& now, std::size_t from, std::size_t to);

  bool can_go_back(const ViewPlace& now) const;
  bool can_go_forward() const { return at_ + 1 < places_.size(); }
  // The place before (after) this one, which becomes the current one; none where there is none.
  std::optional<ViewPlace> back(const ViewPlace& now);
  std::optional<ViewPlace> forward(const ViewPlace& now);

  const std::vector<ViewPlace>& places() const { return places_; }
  std::size_t current() const { return at_; }  // position in places()
  void clear() { *this = {}; }

 private:
  bool is_current(const ViewPlace& place) const;
  void settle(const ViewPlace& place);
  void join(const ViewPlace& place);
  ViewPlace arrive(std::size_t at);

  std::vector<ViewPlace> places_;
  std::size_t at_ = 0;
  ViewPlace last_;  // of the frame before
  ViewJump jump_;
  double rested_s_ = 0;
  bool watching_ = false;  // last_ and jump_ are of the frame before
  bool arriving_ = false;  // on the way to places_[at_]
};

}  // namespace gapscope
