#pragma once
// What the host was in at each instant, seen from one thread: the profiler's overhead, else that thread's slice, else the slice
// of the first other thread that has one, those with the most slices first. Refers to the trace, which must outlive it.
//
// Slices are here operators, annotations, Python frames and calls, each covering [begin, end); one of no duration covers
// nothing. Building costs a pass over the trace and a byte a slice; a question O(depths * log n), and O(n log n) in the slices
// that lie in the stretch asked for.
#include <vector>

#include "core/analyze/idle_cause.h"
#include "core/analyze/span_set.h"
#include "core/trace/trace.h"

namespace gapscope {

// A stretch with one cause. `slice` is what answers for it: the overhead, the outermost compile frame, the data loader, or the
// innermost slice of the thread; none where nothing is recorded.
struct HostPiece {
  Span span;
  IdleCause cause = IdleCause::unrecorded;
  SliceId slice;
};

class HostTime {
 public:
  explicit HostTime(const Trace& trace);

  // The first begin to the last end of all slices, leaving out the one that ends last where it is a device synchronization, with
  // which the profiler closes a recording. {0, 0} where there are none.
  Span recorded() const { return recorded_; }

 private:
  friend class HostReader;
  struct OnThread {
    Span span;
    LaneId lane;
  };
  void read_slices();
  void order_threads();
  void gather_overheads(const std::vector<SliceId>& slices);
  SpanSet coverage(LaneId lane) const;

  const Trace& trace_;
  Span recorded_;
  std::vector<std::uint8_t> part_;     // by slice: an IdleCause with bits, or kNoPart
  std::vector<LaneId> threads_;        // with slices, most of them first
  std::vector<OnThread> first_thread_; // the first of them at each instant: disjoint, in time order
  std::vector<HostPiece> overheads_;   // disjoint, in time order
};

// Asks about stretches of time, best in order of time: it goes on from where the last question ended. For one thread.
class HostReader {
 public:
  explicit HostReader(const HostTime& host);
  // Appends pieces in time order that cover `span` exactly. Without a lane no thread comes before the others.
  void read(LaneId lane, Span span, std::vector<HostPiece>& out);

 private:
  struct Open {
    Ns begin, end;
    std::uint32_t slice;
  };
  void read_threads(LaneId lane, Span span, std::vector<HostPiece>& out);
  void read_first_thread(Span span, std::vector<HostPiece>& out);
  struct Room {
    std::vector<Open> inside, stack;
  };
  // Calls uncovered(span) where the lane has no slice.
  template <class Uncovered>
  void read_lane(LaneId lane, Span span, Room& room, std::vector<HostPiece>& out, Uncovered uncovered);
  void gather(LaneId lane, Span span, std::vector<Open>& found);
  std::uint32_t first_that_ends_after(const Row& row, Ns t, std::uint32_t near) const;

  const HostTime& host_;
  std::vector<std::uint32_t> near_;  // by row: where the last question found its first slice
  Room rooms_[2];                    // to work in: for the thread asked for, and for another one where it has no slice
};

}  // namespace gapscope
