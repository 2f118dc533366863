#pragma once
// The facts of core/analyze about one trace, worked out together after it is loaded: off the UI thread, once, never
// changed. Refers to the trace and its indexes, which must outlive it.
#include <atomic>
#include <memory>
#include <vector>

#include "core/analyze/counters/counter_facts.h"
#include "core/analyze/gpu/gpu_activity.h"
#include "core/analyze/gpu/gpu_series.h"
#include "core/analyze/gpu/idle_gaps.h"
#include "core/analyze/gpu/kernel_table.h"
#include "core/analyze/gpu/launches.h"
#include "core/analyze/memory/memory.h"
#include "core/analyze/op_table/op_events.h"
#include "core/analyze/steps.h"
#include "core/base/memo.h"

namespace gapscope {

class LazyWorkTable;
class TimeAccount;
struct WorkTable;

// What the GPUs did; empty tables where no GPU work was recorded.
struct GpuFacts {
  std::vector<GpuActivity> devices;
  std::vector<GpuSeries> series;  // one a device, in the same order
  std::vector<StreamIdle> idle;
  IdleGaps gaps;  // by device, stream, time
  LaunchStats launches;
  std::vector<QueueCurve> queues;  // of the streams that something was launched on
};

// How far the analyses are; written by the thread that makes them, read by any.
struct AnalysisProgress {
  std::atomic<std::size_t> parts{0};  // 0 before they have begun
  std::atomic<std::size_t> done{0};
};

class Analysis {
 public:
  // Null when `cancel` turned true on the way; it is looked at before each part. `work`: what work() gives, which must outlive
  // it; null: a table without Concrete Inputs.
  static std::unique_ptr<const Analysis> make(const Trace& trace, const LaneIndex& lanes, const LinkIndex& links,
                                              const std::atomic<bool>* cancel = nullptr, AnalysisProgress* progress = nullptr,
                                              const LazyWorkTable* work = nullptr);
  ~Analysis();

  // Worked out when first asked for, so ask from a thread that may wait.
  const OpEvents& op_events(TableMode mode) const;
  // Likewise: what each call computes and moves.
  const WorkTable& work() const;
  // Some operator states its input shapes.
  bool has_shapes() const { return has_shapes_; }
  const KernelTable& kernels() const { return kernels_; }
  const Steps& steps() const { return steps_; }
  const GpuFacts& gpu() const { return gpu_; }
  // Where each GPU's window went: core/analyze/account/time_account.h.
  const TimeAccount& account() const { return *account_; }
  const MemoryUse& memory() const { return memory_; }
  const CounterFacts& counters() const { return counters_; }

 private:
  Analysis(const Trace& trace, const LaneIndex& lanes, const LinkIndex& links);
  void make_activity(const std::vector<GpuOp>& ops);
  void make_idle(const std::vector<GpuOp>& ops);

  const Trace& trace_;
  const LaneIndex& lanes_;
  const LinkIndex& links_;
  bool has_shapes_ = false;
  Memo<OpEvents> corrected_, exact_;
  std::unique_ptr<const LazyWorkTable> own_work_;  // where none was given
  const LazyWorkTable* work_ = nullptr;
  KernelTable kernels_;
  Steps steps_;
  GpuFacts gpu_;
  std::unique_ptr<const TimeAccount> account_;
  MemoryUse memory_;
  CounterFacts counters_;
};

}  // namespace gapscope
