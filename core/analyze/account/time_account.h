#pragma once
// The time account: what a GPU did with every nanosecond of the window, and where it was idle, what the host was doing.
//
//   window = compute + exposed_communication + exposed_copies + idle, and idle = the sum over its causes. Always exactly.
//
// Compute is the union of compute kernels, exposed communication the union of communication kernels less compute, exposed
// copies the union of copies and fills less both. Each maximal rest is a gap. It is explained by the work that ended it: of the
// work that begins there, what was launched first. Before its launch the host is at fault, and HostTime says with what; then
// the call itself is `launching` and what follows `starting`. Where nothing follows, all of the gap is the host's; where the
// work is unlinked, all of it is `unlinked`. Communication is a kernel that kernel_name.h calls a collective, or one whose
// args state a `Collective name`. What is between two recordings of one file is no part of the window: only what GPUs did in
// it counts.
//
// The window: begin of the first ProfilerStep# to the later of the last one's end and the last end of linked GPU work. Without
// steps, HostTime::recorded() extended to the last end of linked GPU work. Devices: those with linked work.
#include <bit>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "core/analyze/account/host_time.h"
#include "core/analyze/account/idle_cause.h"
#include "core/analyze/gpu/gpu_ops.h"
#include "core/base/column.h"
#include "core/base/narrow_column.h"
#include "core/base/span_set.h"

namespace gapscope {

// The parts of a window, or of a part of it.
struct AccountTimes {
  Ns window = 0;
  Ns compute = 0;
  Ns exposed_communication = 0;
  Ns exposed_copies = 0;
  CauseTimes idle{};

  Ns idle_total() const { return sum_of(idle); }
  Ns of(IdleCause cause) const { return idle[index_of(cause)]; }
  Ns host() const;  // operators, Python, launching and other runtime calls
  AccountTimes& operator+=(const AccountTimes& other);
  friend bool operator==(const AccountTimes&, const AccountTimes&) = default;
};

// A stretch of the window in which a device did nothing.
struct DeviceGap {
  Span span;
  SliceId ended_by;                        // the GPU work; none: nothing follows in the window
  SliceId launch;                          // its call; none where unlinked or nothing follows
  IdleCause main = IdleCause::unrecorded;  // the cause with the most time
  std::uint32_t first_cause = 0;           // see DeviceAccount::each_cause()
  std::uint16_t causes = 0;                // those with time: bit 1 << IdleCause

  bool has(IdleCause cause) const { return (causes >> index_of(cause) & 1) != 0; }
};

class DeviceAccount {
 public:
  std::int32_t device = 0;
  Span window;
  AccountTimes times;
  SpanSet compute, exposed_communication, exposed_copies;  // clipped to the window
  Column<DeviceGap> gaps;                                  // in time order

  // What the causes of a gap add up to: only those with time, in the order of the enum.
  struct CauseTime {
    IdleCause cause;
    Ns time;
  };
  std::vector<CauseTime> causes(std::size_t gap) const;
  // The same for loops over many gaps: visit(cause, time).
  template <class Visit>
  void each_cause(std::size_t gap, Visit visit) const {
    std::size_t at = gaps[gap].first_cause;
    for (unsigned rest = gaps[gap].causes; rest != 0; rest &= rest - 1)
      visit(static_cast<IdleCause>(std::countr_zero(rest)), cause_times_[at++]);
  }
  // Gaps that overlap a stretch: positions [first, last).
  std::pair<std::size_t, std::size_t> gaps_in(Span span) const;
  // The longest gaps, the earlier one first of equal ones.
  std::vector<std::size_t> longest_gaps(std::size_t most) const;

 private:
  friend class TimeAccount;
  NarrowColumn<std::uint32_t, Ns> cause_times_;  // gap by gap, cause by cause
};

class HostSums;

class TimeAccount {
 public:
  // `ops`: gpu_ops() of the trace. Refers to the trace, which must outlive it. O(n log n). Several threads look at many gaps.
  TimeAccount(const Trace& trace, const LinkIndex& links, const std::vector<GpuOp>& ops);

  Span window() const { return window_; }
  // Its length without what is between recordings.
  Ns recorded() const { return window_.length() - length(between_); }
  const HostTime& host() const { return host_; }
  const std::vector<DeviceAccount>& devices() const { return devices_; }  // ascending; empty: no account
  // Of the device with this number; null where it did no linked work.
  const DeviceAccount* device(std::int32_t number) const;
  // The device that was idle for the shortest time; null where there is none.
  const DeviceAccount* busiest() const;

  // The account of [from, to) of the window. A gap that is cut keeps what ended it: its causes are those of the moments inside.
  // O(log n) and the gaps inside.
  AccountTimes times_in(const DeviceAccount& device, Span range) const;
  // The window from each ProfilerStep#'s begin to the next one's, the last one's to the window's end: their accounts add up to
  // the whole. Steps that begin inside another are left out. Empty where there are none.
  struct StepWindow {
    SliceId step;
    Span span;
  };
  const std::vector<StepWindow>& steps() const { return steps_; }

  // What the host was in, moment by moment, in the part of a gap that is in `clip`: pieces in time order that cover it. The
  // slice of `launching` and `starting` is the launch, of `unlinked` none.
  std::vector<HostPiece> pieces(const DeviceGap& gap, Span clip) const;
  std::vector<HostPiece> pieces(const DeviceGap& gap) const { return pieces(gap, gap.span); }
  // The same for all gaps of a device in time order, much cheaper than one by one: visit(position of the gap, its pieces); for
  // those at [first, last).
  using VisitGap = std::function<void(std::size_t, std::span<const HostPiece>)>;
  void each_gap(const DeviceAccount& device, const VisitGap& visit) const { each_gap(device, 0, device.gaps.size(), visit); }
  void each_gap(const DeviceAccount& device, std::size_t first, std::size_t last, const VisitGap& visit) const;

 private:
  void add_pieces(HostReader& reader, const DeviceGap& gap, Span clip, std::vector<HostPiece>& out) const;
  bool find_window(const std::vector<GpuOp>& ops);
  Ns end_of_step(Ns begin, Ns next) const;
  void make_device(DeviceAccount& account, const std::vector<GpuOp>& ops, const std::vector<std::uint32_t>& of_device);
  // Gaps of a device that follow each other, and what is found out about them.
  struct GapRun {
    DeviceAccount* account;
    std::size_t first, last;
    std::vector<Ns> times;  // gap by gap, cause by cause
    CauseTimes idle;
  };
  void explain_gaps();
  void explain(GapRun& run, HostSums& host) const;
  // A gap from begin to end: host time on a thread, then the launch, then the start; or all of it unlinked.
  struct GapParts {
    LaneId thread{};
    Span host{}, launching{}, starting{}, unlinked{};
  };
  GapParts parts_of(const DeviceGap& gap) const;

  const Trace& trace_;
  HostTime host_;
  Span window_;
  SpanSet between_;  // the recordings of one file, in the window
  std::vector<StepWindow> steps_;
  std::vector<DeviceAccount> devices_;
};

}  // namespace gapscope
