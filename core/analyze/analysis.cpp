#include "core/analyze/analysis.h"

#include <array>

#include "core/analyze/account/time_account.h"
#include "core/analyze/work/lazy_work_table.h"
#include "core/analyze/work/work_table.h"
#include "core/base/parallel.h"

namespace gapscope {

std::unique_ptr<const Analysis> Analysis::make(const Trace& trace, const LaneIndex& lanes, const LinkIndex& links,
                                               const std::atomic<bool>* cancel, AnalysisProgress* progress,
                                               const LazyWorkTable* work) {
  std::unique_ptr<Analysis> facts(new Analysis(trace, lanes, links));
  if (work == nullptr) facts->own_work_ = std::make_unique<const LazyWorkTable>(trace, lanes, links, ReadValues());
  facts->work_ = work != nullptr ? work : facts->own_work_.get();
  facts->has_shapes_ = gapscope::has_shapes(trace);
  const auto cancelled = [&] { return cancel != nullptr && *cancel; };
  if (cancelled()) return nullptr;
  const std::vector<GpuOp> ops = gpu_ops(trace, links);
  using Parts = std::vector<std::function<void()>>;  // one after the other
  // What goes on side by side, the longest first.
  const std::array<Parts, 5> chains = {
      Parts{[&] { facts->account_ = std::make_unique<const TimeAccount>(trace, links, ops); }},
      Parts{[&] { facts->make_idle(ops); }, [&] { facts->counters_ = CounterFacts(trace, links, ops); }},
      Parts{[&] { facts->steps_ = make_steps(trace, ops); }, [&] { facts->make_activity(ops); }},
      Parts{[&] { facts->memory_ = memory_use(trace, lanes); }},
      Parts{[&] { facts->kernels_ = kernel_table(trace, links); }},
  };
  for (const Parts& chain : chains)
    if (progress) progress->parts += chain.size();
  parallel_for(hardware_threads(), chains.size(), [&](std::size_t i) {
    for (const auto& part : chains[i]) {
      if (cancelled()) return;
      part();
      if (progress) ++progress->done;
    }
  });
  if (cancelled()) return nullptr;
  return facts;
}

Analysis::Analysis(const Trace& trace, const LaneIndex& lanes, const LinkIndex& links)
    : trace_(trace), lanes_(lanes), links_(links) {}
Analysis::~Analysis() = default;

void Analysis::make_activity(const std::vector<GpuOp>& ops) { gpu_.devices = gpu_activity(trace_, ops, steps_, &gpu_.series); }

void Analysis::make_idle(const std::vector<GpuOp>& ops) {
  const std::vector<StreamOps> streams = streams_of(ops);
  Idle idle = find_idle(trace_, ops, streams);
  gpu_.idle = std::move(idle.streams);
  gpu_.gaps = std::move(idle.gaps);
  gpu_.launches = launch_stats(trace_, ops, streams);
  gpu_.queues = queue_curves(ops, streams);
}

const OpEvents& Analysis::op_events(TableMode mode) const {
  const Memo<OpEvents>& events = mode == TableMode::corrected ? corrected_ : exact_;
  return *events.get([&] { return std::make_unique<const OpEvents>(trace_, lanes_, links_, mode); });
}

const WorkTable& Analysis::work() const { return work_->get(); }

}  // namespace gapscope
