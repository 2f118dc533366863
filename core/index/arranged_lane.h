#pragma once
// Other ways to show a lane than by the depths of the file: a thread without its Python frames, the streams of a replayed
// CUDA graph as one. Each arrangement holds some of the trace's slices in rows of its own, with the same promises as the
// trace's rows: disjoint, ordered by begin.
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/index/row_window.h"
#include "core/trace/trace.h"

namespace gapscope {

enum class Stacking : std::uint8_t {
  nested,  // below everything that is still running: a call is below its caller
  packed,  // the first depth that is free: side by side, no nesting meant
};

class ArrangedLane {
 public:
  // `slices` in order of begin, an enclosing one before what it encloses. 20 bytes a slice and 3 for the levels of detail.
  ArrangedLane(const Trace& trace, const std::vector<SliceId>& slices, Stacking stacking);
  ArrangedLane(const ArrangedLane&) = delete;
  ArrangedLane& operator=(const ArrangedLane&) = delete;

  std::uint32_t depth_count() const { return static_cast<std::uint32_t>(rows_.size()); }
  std::size_t slice_count() const { return ids_.size(); }
  RowSlices row(std::uint32_t depth) const;
  // Where `slice`, which begins at `begin`, is; none where this arrangement leaves it out. O(depths * log n).
  std::optional<std::uint32_t> depth_of(SliceId slice, Ns begin) const;

 private:
  struct Stretch {
    std::uint32_t first = 0, count = 0;
  };
  std::vector<Ns> begin_, end_;  // row by row
  std::vector<SliceId> ids_;
  std::vector<Stretch> rows_;
  std::vector<RowLevels> levels_;
};

// All that a trace has use for. Which of them is shown is the user's choice (LaneFolds).
struct Arrangements {
  // The streams of one GPU that CUDA graphs were replayed on, as one lane; shown in place of the first of them.
  struct GraphStreams {
    std::vector<LaneId> lanes;
    std::unique_ptr<const ArrangedLane> together;  // their work; null where the process has fewer than two such streams
    std::unique_ptr<const ArrangedLane> spans;     // the rest: annotations, waits; null where there is none
  };
  // A stream's work without the annotations and waits that lie over it, and those alone.
  struct StreamRows {
    std::unique_ptr<const ArrangedLane> work, spans;  // both or neither: null where the lane is all work, or none
  };
  std::vector<std::unique_ptr<const ArrangedLane>> without_python;  // by LaneId; null where it would be the same, or empty
  std::vector<StreamRows> stream_rows;                              // by LaneId
  std::vector<GraphStreams> graph_streams;                          // by ProcessId
  bool any_python = false;
  bool any_graph_streams = false;
};

// O(n log depths) over the lanes concerned. Ends early when cancelled (may be null), and may then only be thrown away.
Arrangements make_arrangements(const Trace& trace, const std::atomic<bool>* cancel = nullptr);

}  // namespace gapscope
