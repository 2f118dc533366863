#pragma once
// Where every lane lies: process headers and lanes from top to bottom, in px from the top of the lanes. Built anew only
// when a fold or the scale changes; asked by binary search, so a frame costs what it shows.
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/trace/trace.h"
#include "core/view/view_state.h"

namespace gapscope {

// Heights at scale 1; see LaneMetrics::scaled.
struct LaneMetrics {
  float header = 26;     // of a process
  float depth = 20;      // from one nesting depth to the next
  float slice = 19;      // of a slice: one pixel of surface stays between depths
  float head = 14;       // above the slices of an open lane: where badges stand
  float padding = 4;     // below them
  float collapsed = 24;  // of a folded lane
  float summary = 8;     // of the thin slices in a folded lane
  float counter = 48;    // of an open counter

  LaneMetrics scaled(float scale) const;
};

enum class BandKind : unsigned char { process, lane, counter };

// One horizontal band of the timeline.
struct Band {
  BandKind kind{};
  bool collapsed = false;
  ProcessId process;
  LaneId lane;  // of a lane only
  float y = 0;
  float height = 0;
  std::size_t counter = 0;  // of a counter: its position in the list
  float bottom() const { return y + height; }
};

class LaneLayout {
 public:
  LaneLayout() = default;
  // `counters`: the process of each; they lie between its header and its lanes.
  LaneLayout(const Trace& trace, const LaneFolds& folds, const LaneMetrics& metrics, std::span<const ProcessId> counters = {});

  const std::vector<Band>& bands() const { return bands_; }
  float height() const { return bands_.empty() ? 0 : bands_.back().bottom(); }
  const LaneMetrics& metrics() const { return metrics_; }
  // Positions [first, last) of the bands that show in [top, bottom).
  std::pair<std::size_t, std::size_t> visible(float top, float bottom) const;
  // The band of a lane; of its process's header when that is folded; nullptr when hidden.
  const Band* band_of(LaneId lane) const;
  // Top and height of the slices of one depth.
  struct Strip {
    float y = 0;
    float height = 0;
  };
  Strip strip(const Band& band, std::uint32_t depth) const;

 private:
  static constexpr std::size_t kNoBand = ~std::size_t{0};
  void add_band(Band band);
  void add_process(const LaneFolds& folds, ProcessId process, std::span<const ProcessId> counters);

  LaneMetrics metrics_;
  std::vector<Band> bands_;
  std::vector<std::size_t> band_of_lane_;
};

// Folding. Each raises folds.revision.
// Everything open, but threads that only hold Python frames (helpers that wait) folded. A heuristic: the first slice of
// each depth speaks for it.
void reset_folds(LaneFolds& folds, const Trace& trace);
void toggle_process(LaneFolds& folds, ProcessId process);
void toggle_lane(LaneFolds& folds, LaneId lane);
void toggle_counter(LaneFolds& folds, std::size_t counter);
void set_all_lanes(LaneFolds& folds, bool collapsed);
// Opens the lane and its process.
void unfold_lane(LaneFolds& folds, const Trace& trace, LaneId lane);

}  // namespace gapscope
