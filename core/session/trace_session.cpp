#include "core/session/trace_session.h"

#include <array>
#include <functional>
#include <utility>

#include "core/analyze/account/time_account.h"
#include "core/analyze/work/work_table.h"
#include "core/base/parallel.h"
#include "core/load/arg_texts.h"
#include "core/replay/replay.h"

namespace gapscope {

TraceSession::TraceSession(std::shared_ptr<const Trace> trace) : TraceSession(std::move(trace), Options()) {}
TraceSession::TraceSession(std::shared_ptr<const Trace> trace, Options options) : trace_(std::move(trace)), options_(options) {}
TraceSession::~TraceSession() = default;

int TraceSession::threads() const { return options_.threads > 0 ? options_.threads : hardware_threads(); }

const LaneIndex& TraceSession::lanes(const std::atomic<bool>* cancel) const {
  return *lanes_.get([&] { return std::make_unique<const LaneIndex>(trace(), threads(), cancel); });
}
const LinkIndex& TraceSession::links(const std::atomic<bool>* cancel) const {
  return *links_.get([&] { return std::make_unique<const LinkIndex>(trace(), lanes(cancel), threads(), cancel); });
}
const NameIndex& TraceSession::names(const std::atomic<bool>* cancel) const {
  return *names_.get([&] { return std::make_unique<const NameIndex>(trace(), threads(), cancel); });
}
const LaneIndex& TraceSession::lanes() const { return lanes(nullptr); }
const LinkIndex& TraceSession::links() const { return links(nullptr); }
const NameIndex& TraceSession::names() const { return names(nullptr); }

const std::vector<GpuOp>& TraceSession::ops() const {
  return *ops_.get([&] { return std::make_unique<const std::vector<GpuOp>>(gpu_ops(trace(), links())); });
}
const TimeAccount& TraceSession::account() const {
  return *account_.get([&] { return std::make_unique<const TimeAccount>(trace(), links(), ops()); });
}
const Steps& TraceSession::steps() const {
  return *steps_.get([&] { return std::make_unique<const Steps>(make_steps(trace(), ops())); });
}
const KernelTable& TraceSession::kernels() const {
  return *kernels_.get([&] { return std::make_unique<const KernelTable>(kernel_table(trace(), links())); });
}
const GpuUsage& TraceSession::usage() const {
  return *usage_.get([&] {
    auto out = std::make_unique<GpuUsage>();
    out->devices = gpu_activity(trace(), ops(), steps(), &out->series);
    return out;
  });
}
const StreamFacts& TraceSession::streams() const {
  return *streams_.get([&] {
    auto out = std::make_unique<StreamFacts>();
    const std::vector<StreamOps> streams = streams_of(ops());
    Idle idle = find_idle(trace(), ops(), streams);
    out->idle = std::move(idle.streams);
    out->gaps = std::move(idle.gaps);
    out->launches = launch_stats(trace(), ops(), streams);
    out->queues = queue_curves(ops(), streams);
    return out;
  });
}
const MemoryUse& TraceSession::memory() const {
  return *memory_.get([&] { return std::make_unique<const MemoryUse>(memory_use(trace(), lanes())); });
}
const CounterFacts& TraceSession::counters() const {
  return *counters_.get([&] { return std::make_unique<const CounterFacts>(trace(), links(), ops()); });
}
const OpEvents& TraceSession::op_events(TableMode mode) const {
  const Memo<OpEvents>& events = mode == TableMode::corrected ? corrected_ : exact_;
  return *events.get([&] { return std::make_unique<const OpEvents>(trace(), lanes(), links(), mode); });
}
const WorkTable& TraceSession::work() const {
  static const WorkTable none;
  const WorkTable* table = work_.get([&]() -> std::unique_ptr<const WorkTable> {
    const ReadValues read = options_.concrete_inputs ? concrete_inputs(options_.cancel) : ReadValues();
    auto made = std::make_unique<const WorkTable>(work_table(trace(), lanes(), links(), read));
    return options_.cancel != nullptr && *options_.cancel ? nullptr : std::move(made);
  });
  return table != nullptr ? *table : none;
}
bool TraceSession::has_shapes() const {
  return *has_shapes_.get([&] { return std::make_unique<const bool>(gapscope::has_shapes(trace())); });
}
std::shared_ptr<const ReplayModel> TraceSession::model(const std::atomic<bool>* cancel) const {
  using Shared = std::shared_ptr<const ReplayModel>;
  const Shared* model = model_.get([&]() -> std::unique_ptr<const Shared> {
    Shared made = ReplayModel::make(trace(), names(), ops(), cancel);
    return made ? std::make_unique<const Shared>(std::move(made)) : nullptr;
  });
  return model != nullptr ? *model : nullptr;
}

void TraceSession::index(const std::atomic<bool>* cancel) const {
  const std::future<void> names_under_way = start([&] { (void)names(cancel); });
  (void)links(cancel);
}

bool TraceSession::prefetch(const std::atomic<bool>* cancel, PrefetchProgress* progress) const {
  const auto cancelled = [&] { return cancel != nullptr && *cancel; };
  if (cancelled()) return false;
  (void)ops();
  using Parts = std::vector<std::function<void()>>;  // one after the other
  // What is made at the same time, the longest first.
  const std::array<Parts, 5> chains = {
      Parts{[&] { (void)account(); }},
      Parts{[&] { (void)streams(); }, [&] { (void)counters(); }},
      Parts{[&] { (void)steps(); }, [&] { (void)usage(); }},
      Parts{[&] { (void)memory(); }},
      Parts{[&] { (void)kernels(); }},
  };
  if (progress != nullptr) {
    progress->done = 0;
    std::size_t parts = 0;
    for (const Parts& chain : chains) parts += chain.size();
    progress->parts = parts;
  }
  parallel_for(hardware_threads(), chains.size(), [&](std::size_t i) {
    for (const auto& part : chains[i]) {
      if (cancelled()) return;
      part();
      if (progress != nullptr) ++progress->done;
    }
  });
  return !cancelled();
}

}  // namespace gapscope
