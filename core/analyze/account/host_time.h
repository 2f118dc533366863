#pragma once
// What the host was in at each instant, seen from one thread: the profiler's overhead, else that thread's slice, else the slice
// of the first other thread that has one, those with the most slices first. Refers to the trace, which must outlive it.
//
// Slices are here operators, annotations, Python frames and calls, each covering [begin, end); one of no duration covers
// nothing. Building costs a pass over the names of the trace, and keeps nothing by slice; a question O(depths * log n), and
// O(n) in the slices that lie in the stretch asked for, O(n log n) where they overlap without nesting.
#include <array>
#include <functional>
#include <unordered_map>
#include <vector>

#include "core/analyze/account/idle_cause.h"
#include "core/base/column.h"
#include "core/base/counted_steps.h"
#include "core/base/span_set.h"
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

  // The first begin to the last end of all slices, leaving out the one that ends last where it is a device synchronization,
  // with which the profiler closes a recording. {0, 0} where there are none.
  Span recorded() const { return recorded_; }

 private:
  friend class HostReader;
  friend class HostSums;
  struct OnThread {
    Span span;
    LaneId lane;
  };
  // How the name of a slice is read; what comes before `overhead` are the slices that a host can be in.
  enum class NameUse : std::uint8_t { op, other, call, overhead, none };
  static constexpr std::uint8_t kCauseBits = 0x0F, kCompiling = 0x10, kLoadsData = 0x20, kUnread = 0xFF;
  static NameUse use_of(Kind kind);
  static std::uint8_t part_of(NameUse use, std::string_view name);
  NameUse use(std::size_t slice) const { return uses_[trace_.slices.category[slice]]; }
  bool is_host(std::size_t slice) const { return use(slice) < NameUse::overhead; }
  // Of a host's slice: an IdleCause with bits.
  std::uint8_t part(std::size_t slice) const {
    return part_of_name_[static_cast<std::size_t>(use(slice))][trace_.slices.name[slice].index()];
  }

  void read_names();
  void find_recorded();
  void order_threads();
  void gather_overheads(const std::vector<SliceId>& slices);
  SpanSet coverage(LaneId lane) const;

  const Trace& trace_;
  Span recorded_;
  std::vector<NameUse> uses_;                              // by category
  std::array<std::vector<std::uint8_t>, 3> part_of_name_;  // by NameUse and StringId; kUnread where no slice is named so
  std::vector<LaneId> threads_;                            // with slices, most of them first
  std::vector<OnThread> first_thread_;                     // the first of them at each instant: disjoint, in time order
  std::vector<HostPiece> overheads_;                       // disjoint, in time order
};

// Asks about stretches of time. For one thread. Going on in order of time is cheap, and cheaper yet with `reads_ahead`: then
// the slices of a lane are put in order a few thousand at a time, for questions that follow closely.
class HostReader {
 public:
  explicit HostReader(const HostTime& host, bool reads_ahead = false);
  // Appends pieces in time order that cover `span` exactly. Without a lane no thread comes before the others.
  void read(LaneId lane, Span span, std::vector<HostPiece>& out);
  // Adds up their lengths by cause; returns how many there are, and how many slices were looked at. With `uncovered` only of
  // what the thread itself is in and of overhead; the stretches where it is in nothing go there.
  std::uint64_t add_times(LaneId lane, Span span, CauseTimes& times, const std::function<void(Span)>* uncovered = nullptr);

 private:
  struct Open {
    Ns begin, end;
    std::uint32_t slice;
    std::uint8_t part;
  };
  // A lane's slices in order of begin, an outer one before an inner one, and how far they were read.
  struct LaneState {
    Span ready;  // `slices` are those that overlap this
    std::vector<Open> slices;
    std::size_t next = 0;               // the first that begins after the last question's end
    std::vector<Open> stack;            // begun, in order: the last one that has not ended is the innermost
    Open compiles{}, loads{};           // of the compile frames and data loaders begun the one that ends last
    Ns now = 0;                         // the last question's end
    Ns ahead = 0;                       // how much more than asked for is made ready...
    std::size_t fresh = 0, enough = 0;  // ...so that of the slices these begin in it: last time, and wanted
    std::vector<std::uint32_t> near;    // by depth: where the last question found its first slice
  };
  LaneState& state_of(LaneId lane);
  template <class Take, class Between>  // overheads go to one, what is between them to the other
  void each_overhead(Span span, Take take, Between between);
  template <class Take>
  void each_on_threads(LaneId lane, Span span, const Take& take);
  template <class Take>  // `asked`: the lane that is being read already, and is in nothing there; or none
  void each_on_first_thread(Span span, LaneId asked, Take take);
  template <class Take, class Uncovered>
  void each_on_lane(LaneId lane, Span span, Take take, const Uncovered& uncovered);
  void make_ready(LaneState& state, LaneId lane, Span span);
  void make_fresh(LaneState& state, const Lane& lane);
  void take(LaneState& state, std::uint32_t slice) const;
  static void begin_slice(LaneState& state, const Open& slice);
  std::uint32_t first_that_ends_after(const Row& row, Ns t, std::uint32_t near) const;

  const HostTime& host_;
  const bool reads_ahead_;
  std::unordered_map<std::uint32_t, LaneState> lanes_;  // those asked about: there may be many, and many readers
  StepCount count_;
  std::uint64_t looked_at_ = 0;  // slices
  LaneId last_lane_;
  LaneState* last_ = nullptr;
  // By depth, while a lane is made ready: the next slice, and up to where slices there begin inside the one above.
  std::vector<std::uint32_t> next_;
  std::vector<Ns> limits_;
};

}  // namespace gapscope
