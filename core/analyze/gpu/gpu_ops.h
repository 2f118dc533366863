#pragma once
// GPU work as the analyses see it: every kernel, copy and memset of a trace in time order, with the call that launched it.
// Waits (cuda_sync) and annotations on GPU lanes are no work and not here.
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/index/link_index.h"
#include "core/trace/trace.h"

namespace gapscope {

// Communication: by its name, or by args that state a collective.
enum class GpuClass : std::uint8_t { compute, communication, copy, memset };

// Between GPUs or machines: what kernel_name.h calls a collective, by its kind or its family.
bool is_communication_name(std::string_view kernel_name);

struct GpuOp {
  SliceId slice;
  SliceId launch;  // the runtime or driver call of the same correlation; none: unlinked
  Span span;
  Span launch_span;           // of `launch`; meaningless when unlinked
  std::uint32_t gpu_row = 0;  // position in Trace::gpu
  std::int32_t device = 0;
  std::int32_t stream = -1;
  GpuClass gpu_class = GpuClass::compute;

  bool linked() const { return launch.valid(); }
  bool is_kernel() const { return gpu_class == GpuClass::compute || gpu_class == GpuClass::communication; }
};

// Ordered by (begin, slice).
std::vector<GpuOp> gpu_ops(const Trace& trace, const LinkIndex& links);

// The devices that did work, ascending.
std::vector<std::int32_t> devices_of(const std::vector<GpuOp>& ops);
// The operations of one device, in the same order.
std::vector<GpuOp> ops_of_device(const std::vector<GpuOp>& ops, std::int32_t device);

// The streams of one device, ascending, each with its operations in time order (positions in `ops`).
struct StreamOps {
  std::int32_t device = 0;
  std::int32_t stream = -1;
  std::vector<std::uint32_t> ops;
};
std::vector<StreamOps> streams_of(const std::vector<GpuOp>& ops);

}  // namespace gapscope
