#pragma once
// What a change would give: the recording replayed with it, by the definition in GAIN.md of this folder. Integer nanoseconds.
//
// The host continues at its recorded pace; an operation of a GPU begins when its call has launched it and its queue (device and
// stream) is free, after the gap that it had; a call that waits ends when what it waits for has ended. A change shortens
// operations, takes host time away or ends waits. Replayed without one, every operation and every step keeps its time.
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "core/analyze/gpu/gpu_ops.h"
#include "core/base/span_set.h"
#include "core/index/link_index.h"
#include "core/index/name_index.h"
#include "core/replay/step_share.h"
#include "core/trace/trace.h"

namespace gapscope {

class PlainPace;

// What is different. As it is made it changes nothing. core/replay/changes.h makes them from names and factors.
struct Change {
  double host = 1;              // the host takes this many times as long, from the run's begin on
  bool no_wait = false;         // no call waits for a GPU
  std::vector<SliceId> freed;   // these calls do not
  bool overlap_copies = false;  // what follows a copy in its queue does not wait for it
  bool full_queues = false;  // launches that found their queue full return when it has room; else they take the time they took
  SpanSet removed;           // host time that is not spent, on whatever thread; waits in it stay
  std::vector<Ns> lasts;     // how long each operation takes, by its position in ReplayModel::ops(); empty: as long as it did
  std::vector<Ns> gaps;      // how long the gap before it is at most, likewise; empty: as long as it was
  // The host's time without the profiler (core/replay/plain_time.h), which all else is of; null: as recorded. No change.
  std::shared_ptr<const PlainPace> pace;

  bool empty() const {
    return host == 1 && !no_wait && freed.empty() && !overlap_copies && removed.empty() && lasts.empty() && gaps.empty();
  }
};
// Both at once; an operation and its gap take the shorter of the two times.
Change both(Change a, const Change& b);

// The calls and operations of a trace and what each begins after. Made once a trace, in O(n log n) of its GPU work; keeps no
// reference to what it was made of.
class ReplayModel {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  // A piece of GPU work.
  struct Operation {
    SliceId slice;
    Span span;
    Ns latency = 0;              // from its call's begin to where it could begin, as far as known
    Ns gap = 0;                  // from where it could begin, by its queue, its call and events, to where it did
    Ns overlap = 0;              // what it began before its queue was free
    std::uint32_t call = kNone;  // position in calls(); none: not in the file
    std::uint32_t queue = 0;
    std::int32_t device = 0;
    GpuClass gpu_class = GpuClass::compute;
    bool first = false;                // of its queue
    std::uint32_t event_wait = kNone;  // position of its first in event_waits(); none: it waits for its queue alone
  };
  // An operation that an event holds until the end of another queue's.
  struct EventWait {
    std::uint32_t op = 0, after = 0;  // positions in ops()
    friend auto operator<=>(const EventWait&, const EventWait&) = default;
  };
  // A call of the host that launches or waits.
  struct HostCall {
    SliceId slice;
    Span span;
    std::uint32_t clock = 0;           // threads that take turns share one (core/replay/thread_clocks.h)
    std::uint32_t waits_for = kNone;   // position in ops(): the call returns after its end
    std::uint32_t room = kNone;        // so does this launch, that found its queue full, where Change::full_queues
    std::uint32_t first = 0, end = 0;  // of order(): the operations that are replayed with it
    bool launches = false;

    std::uint32_t target(const Change& change) const { return waits_for == kNone && change.full_queues ? room : waits_for; }
  };
  // A call that frees memory of the device (cudaFree): it begins when all that was launched before it has ended. In a recording
  // the GPU is often done by then, in the plain program not: only Change::pace knows of it.
  struct Free {
    SliceId slice;
    Span span;
    std::uint32_t clock = 0, call = 0;  // position in calls(): the first from there on
  };
  struct StepSpan {
    SliceId slice;
    Span span;
    std::uint32_t clock = 0;
  };
  // A blocked clock resumed when another had arrived there.
  struct Join {
    std::uint32_t call = 0;  // position in calls(): the first, of any clock, from there on; calls().size(): none
    std::uint32_t clock = 0, other = 0;
    Span stood;
    // Those of one clock at one time are one: it continues when the last of the others has come.
    bool is_with(const Join& b) const { return clock == b.clock && stood == b.stood; }
  };

  // `ops`: gpu_ops() of the trace. Null when `cancel` was set meanwhile.
  static std::unique_ptr<const ReplayModel> make(const Trace& trace, const NameIndex& names, const std::vector<GpuOp>& ops,
                                                 const std::atomic<bool>* cancel = nullptr);

  const std::vector<Operation>& ops() const { return ops_; }     // as given
  const std::vector<HostCall>& calls() const { return calls_; }  // in the order they begin
  const std::vector<Free>& frees() const { return frees_; }      // likewise
  const std::vector<StepSpan>& steps() const { return steps_; }  // step_marks() of core/analyze/steps.h
  // Positions in ops() as they are replayed; after those of the last call come those that no call of the file launched.
  const std::vector<std::uint32_t>& order() const { return order_; }
  const std::vector<EventWait>& event_waits() const { return event_waits_; }  // by operation
  // When the last of what an operation waits for, by events alone, ends by `times`; or the least time there is.
  Ns events_end(std::uint32_t op, const std::vector<Span>& times) const;
  // Whether the run is from the first step to the last one's end and work. Else steps are stretches of it: what is before the
  // first and after the last is part of others.
  bool has_whole_steps() const { return whole_steps_; }
  StepShare step_share() const;
  // The steps, and what is before and after them of others; the run where there are none.
  std::vector<Span> step_parts() const;
  std::uint32_t queues() const { return queues_; }
  std::uint32_t clocks() const { return clocks_; }
  // Of these, the clocks of processes whose threads run at the same time; 0: they take turns everywhere.
  std::uint32_t clocks_at_once() const { return at_once_; }
  const std::vector<Join>& joins() const { return joins_; }  // in the order in which they continue
  Ns latency() const { return latency_; }                    // of launches: their second percentile, at most 10 us
  std::uint32_t waits() const { return waits_; }
  std::uint32_t full() const { return full_; }  // launches that found their queue full, and how long they took
  Ns full_time() const { return full_time_; }
  // From the first whole step's begin, else the first call or operation, to the later of the last whole step's end, else the
  // last call's, and the last operation's end.
  Span run() const { return run_; }
  // Nothing to replay: no GPU work, or times that reach over a hundred days.
  bool empty() const { return ops_.empty(); }

  // All that it holds, in a fixed order: how it is written as bytes and read again.
  template <class Visit>
  void each_member(Visit visit) {
    visit(ops_);
    visit(calls_);
    visit(frees_);
    visit(steps_);
    visit(order_);
    visit(joins_);
    visit(event_waits_);
    for (std::uint32_t* number : {&queues_, &clocks_, &at_once_, &waits_, &full_}) visit(*number);
    for (Ns* time : {&latency_, &full_time_}) visit(*time);
    visit(run_);
    visit(whole_steps_);
  }

 private:
  friend class ModelMaker;
  std::vector<Operation> ops_;
  std::vector<HostCall> calls_;
  std::vector<Free> frees_;
  std::vector<StepSpan> steps_;
  std::vector<std::uint32_t> order_;
  std::vector<Join> joins_;
  std::vector<EventWait> event_waits_;
  std::uint32_t queues_ = 0, clocks_ = 0, at_once_ = 0, waits_ = 0, full_ = 0;
  Ns latency_ = 0, full_time_ = 0;
  Span run_;
  bool whole_steps_ = false;
};

// A step, or the whole, before and after.
struct ReplayedStep {
  SliceId slice;
  Span before, after;
};

// The recording with a change, on the axis of the trace.
struct ReplayResult {
  Span run;                         // ReplayModel::run() as it is then
  Ns before = 0, after = 0;         // length of the run
  std::vector<ReplayedStep> steps;  // by position in ReplayModel::steps()
  std::vector<Span> ops;            // new times of the operations, by position in ReplayModel::ops()
  std::vector<Span> calls;          // of the calls, by position in ReplayModel::calls()
  std::vector<Ns> joins;            // when the clock continues, by position in ReplayModel::joins(); kNotHeld: not for that one
  bool cancelled = false;

  static constexpr Ns kNotHeld = std::numeric_limits<Ns>::min();

  Ns gain() const { return before - after; }
};

// Linear in calls, operations and removed spans.
ReplayResult replay(const ReplayModel& model, const Change& change, const std::atomic<bool>* cancel = nullptr);

// How long the device that is busy for longest in the run is so, before and after.
struct GpuBusy {
  std::int32_t device = 0;
  Ns before = 0, after = 0;
};
GpuBusy gpu_busy(const ReplayModel& model, const ReplayResult& result);
// Takes what `without` gives, the program without the change, for what was before. Without it that is the recording.
void compare_with(const ReplayResult& without, const GpuBusy& its_busy, ReplayResult& result, GpuBusy& busy);

}  // namespace gapscope
