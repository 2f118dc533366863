#include "core/analyze/analysis.h"

#include <algorithm>
#include <array>
#include <functional>

namespace gapscope {

std::unique_ptr<const Analysis> Analysis::make(const Trace& trace, const LaneIndex& lanes, const LinkIndex& links,
                                               const std::atomic<bool>* cancel) {
  std::unique_ptr<Analysis> facts(new Analysis(trace, lanes, links));
  std::vector<GpuOp> ops;
  const std::array<std::function<void()>, 6> parts = {{
      [&] { facts->corrected_ = std::make_unique<const OpEvents>(trace, lanes, links, TableMode::corrected); },
      [&] { facts->kernels_ = kernel_table(trace, links); },
      [&] { ops = gpu_ops(trace, links); },
      [&] { facts->steps_ = make_steps(trace, ops); },
      [&] { facts->make_gpu_facts(ops); },
      [&] { facts->memory_ = memory_use(trace, lanes); },
  }};
  for (const auto& part : parts) {
    if (cancel != nullptr && *cancel) return nullptr;
    part();
  }
  facts->has_shapes_ =
      std::any_of(trace.ops.begin(), trace.ops.end(), [](const OpRow& op) { return op.input_dims.valid(); });
  return facts;
}

void Analysis::make_gpu_facts(const std::vector<GpuOp>& ops) {
  gpu_.devices = gpu_activity(trace_, ops, steps_);
  for (const GpuActivity& device : gpu_.devices) gpu_.series.emplace_back(trace_, ops_of_device(ops, device.device));
  gpu_.gaps = idle_gaps(trace_, ops);
  gpu_.idle = idle_by_stream(ops, gpu_.gaps);
  gpu_.launches = launch_stats(trace_, ops);
}

const OpEvents& Analysis::op_events(TableMode mode) const {
  if (mode == TableMode::corrected) return *corrected_;
  std::call_once(exact_once_,
                 [this] { exact_ = std::make_unique<const OpEvents>(trace_, lanes_, links_, TableMode::exact); });
  return *exact_;
}

}  // namespace gapscope
