#pragma once
// Where every lane is: pinned lanes, then the GPUs with a row of kernels a stream, then the processes with their lanes, from
// top to bottom, in px from the top of the lanes.
// Built anew only when a fold or the scale changes; asked by binary search, so a frame costs what it shows.
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/index/arranged_lane.h"
#include "core/trace/trace.h"
#include "core/view/timeline/lane_folds.h"

namespace gapscope {

// Heights at scale 1; see LaneMetrics::scaled.
struct LaneMetrics {
  float header = 26;       // of a process
  float depth = 20;        // from one nesting depth to the next
  float slice = 19;        // of a slice: one pixel of surface stays between depths
  float head = 14;         // above the slices of an open lane: where badges stand
  float padding = 4;       // below them
  float collapsed = 24;    // of a folded lane
  float summary = 8;       // of the thin slices in a folded lane
  float counter = 48;      // of an open counter
  float sparkline = 16;    // of a folded one
  float more = 18;         // of the lines "12 more streams" and "11 more counters"
  float stream_head = 16;  // above the kernels of a stream: badges, and the spans at its foot
  float spans = 6;         // of the strip of annotations and waits over a stream's kernels, whatever their nesting
  float kernels = 20;      // of a row of kernels with the pixel below it
  float overlapping = 17;  // of each of two or three rows where kernels overlap
  float crowded = 9;       // of each of more than three
  float waits = 4;         // of the strip under a stream's kernels: why the GPU is idle
  float stream_padding = 2;

  LaneMetrics scaled(float scale) const;
  // Thin depths without labels: three in the room of one.
  LaneMetrics compacted() const;
  // Streams without room for badges, for windows that are low.
  LaneMetrics with_low_streams() const;
};

enum class BandKind : unsigned char { process, lane, counter, more_streams, more_counters };

// One horizontal band of the timeline.
struct Band {
  BandKind kind{};
  bool collapsed = false;
  ProcessId process;
  LaneId lane;  // of a lane only
  float y = 0;
  float height = 0;
  std::size_t counter = 0;                 // of a counter: its position in the list
  std::uint32_t depths = 0;                // of a lane: as shown
  std::uint32_t above = 0;                 // of a lane: so many of the trace's depths are left out above these
  const ArrangedLane* arranged = nullptr;  // of a lane: its rows where they are not those of the trace
  const ArrangedLane* spans = nullptr;     // of a stream: what is over its work, in the strip above; may be null
  bool stream = false;                     // a GPU stream with work: one row of kernels, more only where they overlap
  std::size_t more = 0;                    // of a line of more streams or counters: how many lie behind it
  bool all_behind = false;                 // of such a line: none of them is in sight without it
  const Arrangements::GraphStreams* streams = nullptr;  // of a lane that represents several: all of them
  bool pinned = false;
  float bottom() const { return y + height; }
};

class LaneLayout {
 public:
  LaneLayout() = default;
  // `counters`: the process of each; they lie between its header and its lanes, those that come first in sight and more of
  // them behind a line. `arrangements` may be null: not there yet. It must outlive the layout.
  LaneLayout(const Trace& trace, const LaneFolds& folds, const LaneMetrics& metrics, std::span<const ProcessId> counters = {},
             const Arrangements* arrangements = nullptr);

  const std::vector<Band>& bands() const { return bands_; }
  float height() const { return bands_.empty() ? 0 : bands_.back().bottom(); }
  // Bands [0, pinned_count) are pinned and end at pinned_height.
  std::size_t pinned_count() const { return pinned_; }
  float pinned_height() const { return height_of_first(pinned_); }
  // Bands [0, top_count) are the pinned ones and the GPUs that come first with their streams.
  std::size_t top_count() const { return top_; }
  float top_height() const { return height_of_first(top_); }
  // Bands [0, gpu_count) are these, and all else that those GPUs have: their counters.
  std::size_t gpu_count() const { return gpus_; }
  float gpu_height() const { return height_of_first(gpus_); }
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
  // Depths [first, last) of a lane whose strips show in [top, bottom): of a deep one a few of many.
  std::pair<std::uint32_t, std::uint32_t> depths_in(const Band& band, float top, float bottom) const;
  // Under the kernels of a stream: where its waits are drawn.
  Strip waits_strip(const Band& band) const;
  // Of one level of a stream's spans; levels that have no room of their own share the last.
  Strip spans_strip(const Band& band, std::uint32_t level) const;
  // Where a slice is: none where its lane is hidden or the slice left out of it (a folded Python frame, or one outside of the
  // steps). In a folded lane or process all lie on the one strip.
  struct Place {
    const Band* band = nullptr;
    std::uint32_t depth = 0;
    Strip strip;
  };
  std::optional<Place> place_of(const Trace& trace, SliceId slice) const;

 private:
  static constexpr std::size_t kNoBand = ~std::size_t{0};
  void add_band(Band band);
  // Lanes of one process that pass the filter, in their order.
  struct Shown {
    std::vector<LaneId> streams, others;
    std::vector<std::size_t> counters;  // positions in the list
    bool any() const { return !streams.empty() || !others.empty() || !counters.empty(); }
  };
  std::vector<Shown> choose(const Trace& trace, const LaneFolds& folds, std::span<const ProcessId> counters) const;
  void add_header(const Trace& trace, const LaneFolds& folds, ProcessId process, const Shown& shown,
                  const Arrangements* arrangements);
  void add_rest(const Trace& trace, const LaneFolds& folds, ProcessId process, const Shown& shown,
                std::size_t counters_at_first, const Arrangements* arrangements);
  void add_counters(const LaneFolds& folds, ProcessId process, const std::vector<std::size_t>& counters, std::size_t at_first);
  void add_streams(const Trace& trace, const LaneFolds& folds, ProcessId process, const std::vector<LaneId>& streams,
                   const Arrangements* arrangements);
  void add_lane(const Trace& trace, const LaneFolds& folds, LaneId lane, const Arrangements* arrangements);
  void add_pinned(const Trace& trace, const LaneFolds& folds, const Arrangements* arrangements);
  float kernel_depth(const Band& band) const;
  float height_of_first(std::size_t count) const { return count == 0 ? 0 : bands_[count - 1].bottom(); }

  LaneMetrics metrics_;
  std::vector<Band> bands_;
  std::vector<std::size_t> band_of_lane_;
  std::size_t pinned_ = 0, top_ = 0, gpus_ = 0;
};

}  // namespace gapscope
