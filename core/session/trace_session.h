#pragma once
// Everything that is derived from one trace. Each fact is made once, by the first thread that asks for it, and never changed;
// others that ask meanwhile wait. Window, command line, SQL, comparisons and ranks take what they need from here;
// nothing else makes it (tests/check_includes.py).
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <typeindex>
#include <vector>

#include "core/analyze/counters/counter_facts.h"
#include "core/analyze/gpu/gpu_activity.h"
#include "core/analyze/gpu/gpu_ops.h"
#include "core/analyze/gpu/gpu_series.h"
#include "core/analyze/gpu/idle_gaps.h"
#include "core/analyze/gpu/kernel_table.h"
#include "core/analyze/gpu/launches.h"
#include "core/analyze/memory/memory.h"
#include "core/analyze/op_table/op_events.h"
#include "core/analyze/steps.h"
#include "core/base/memo.h"
#include "core/index/lane_index.h"
#include "core/index/link_index.h"
#include "core/index/name_index.h"

namespace gapscope {

class ReplayModel;
class TimeAccount;
struct WorkTable;

// How busy each GPU was; empty where no GPU work was recorded.
struct GpuUsage {
  std::vector<GpuActivity> devices;
  std::vector<GpuSeries> series;  // one a device, in the same order
};

// When the streams of the GPUs were idle, and what was launched on them.
struct StreamFacts {
  std::vector<StreamIdle> idle;
  IdleGaps gaps;  // by device, stream, time
  LaunchStats launches;
  std::vector<QueueCurve> queues;  // of the streams that something was launched on
};

// How far prefetch() is; written by the thread that runs it, read by any.
struct PrefetchProgress {
  std::atomic<std::size_t> parts{0};  // 0 before it has begun
  std::atomic<std::size_t> done{0};
};

class TraceSession {
 public:
  struct Options {
    int threads = 0;              // for the indexes; 0: as many as the machine has
    bool concrete_inputs = true;  // the table of work reads the file once for them
    // Ends that reading early: work() is empty then, and is made when it is asked for again. Must outlive the session.
    const std::atomic<bool>* cancel = nullptr;
  };
  explicit TraceSession(std::shared_ptr<const Trace> trace);
  TraceSession(std::shared_ptr<const Trace> trace, Options options);
  ~TraceSession();
  TraceSession(const TraceSession&) = delete;
  TraceSession& operator=(const TraceSession&) = delete;

  const std::shared_ptr<const Trace>& owner() const { return trace_; }
  const Trace& trace() const { return *trace_; }

  // Any of these takes time when it is first asked for, so ask from a thread that may wait. One that throws is made again when
  // it is asked for again.
  const LaneIndex& lanes() const;
  const LinkIndex& links() const;
  const NameIndex& names() const;
  const std::vector<GpuOp>& ops() const;  // GPU work in time order
  const TimeAccount& account() const;     // where each GPU's window went
  const Steps& steps() const;
  const KernelTable& kernels() const;
  const GpuUsage& usage() const;
  const StreamFacts& streams() const;
  const MemoryUse& memory() const;
  const CounterFacts& counters() const;
  const OpEvents& op_events(TableMode mode) const;
  const WorkTable& work() const;  // what each call computes and moves; empty where Options::cancel was set meanwhile
  bool has_shapes() const;        // some operator states its input shapes
  // What a change is replayed on. Null where `cancel` was set meanwhile.
  std::shared_ptr<const ReplayModel> model(const std::atomic<bool>* cancel = nullptr) const;

  // The three indexes, side by side; what is made may lack anything once `cancel` is set.
  void index(const std::atomic<bool>* cancel) const;
  // What a first look shows, side by side: account, steps, kernels, usage, streams, memory, counters. False where `cancel` was
  // set on the way; it is looked at before each part.
  bool prefetch(const std::atomic<bool>* cancel = nullptr, PrefetchProgress* progress = nullptr) const;

  // A fact of those above this folder: one of each type. `make` as in Memo::get(); null where that gave null.
  template <class T, class Make>
  const T* fact(Make&& make) const {
    return memo<T>().get(std::forward<Make>(make));
  }
  // Null until it is there; never waits for its making.
  template <class T>
  const T* if_ready() const {
    return memo<T>().if_ready();
  }

 private:
  template <class T>
  const Memo<T>& memo() const {
    const std::lock_guard lock(facts_mutex_);
    std::shared_ptr<void>& at = facts_[typeid(T)];
    if (!at) at = std::make_shared<Memo<T>>();
    return *static_cast<const Memo<T>*>(at.get());
  }
  int threads() const;
  const LaneIndex& lanes(const std::atomic<bool>* cancel) const;
  const LinkIndex& links(const std::atomic<bool>* cancel) const;
  const NameIndex& names(const std::atomic<bool>* cancel) const;

  const std::shared_ptr<const Trace> trace_;
  const Options options_;
  // In the order in which they refer to each other.
  Memo<LaneIndex> lanes_;
  Memo<LinkIndex> links_;
  Memo<NameIndex> names_;
  Memo<std::vector<GpuOp>> ops_;
  Memo<TimeAccount> account_;
  Memo<Steps> steps_;
  Memo<KernelTable> kernels_;
  Memo<GpuUsage> usage_;
  Memo<StreamFacts> streams_;
  Memo<MemoryUse> memory_;
  Memo<CounterFacts> counters_;
  Memo<OpEvents> corrected_, exact_;
  Memo<WorkTable> work_;
  Memo<bool> has_shapes_;
  Memo<std::shared_ptr<const ReplayModel>> model_;
  mutable std::mutex facts_mutex_;
  mutable std::map<std::type_index, std::shared_ptr<void>> facts_;
};

}  // namespace gapscope
