#pragma once
// What the recorder has seen, as plain values: CUPTI's records without CUPTI, so that everything after them can be tested
// anywhere. Times are nanoseconds of the system clock since 1970, of CPU and GPU alike (CUPTI brings them on one axis).
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace gapscope::sampler {

using Ns = std::int64_t;

struct Times {
  Ns begin = 0;
  Ns end = 0;
};

// A call of the CUDA runtime or driver.
struct Call {
  Times times;
  std::string_view name;  // "cudaLaunchKernel"
  bool driver = false;
  std::uint32_t id = 0;           // CUPTI's number of the function
  std::uint32_t thread = 0;       // system thread id
  std::uint32_t correlation = 0;  // joins with GpuWork
};

// Where and why something ran on a GPU.
struct GpuPlace {
  std::int32_t device = 0;
  std::int32_t context = 0;
  std::int32_t stream = 0;
  std::uint32_t correlation = 0;
  std::uint64_t graph_id = 0, graph_node_id = 0;  // 0: no CUDA graph
};

struct Kernel {
  Times times;
  GpuPlace place;
  std::string_view name;  // demangled
  std::uint32_t registers = 0;
  std::uint32_t static_shared = 0, dynamic_shared = 0;     // bytes
  std::array<std::int32_t, 3> grid{}, block{}, cluster{};  // cluster {0,0,0}: none
  Ns queued = 0, submitted = 0;  // when the call put it into the command buffer, and when that went to the GPU; 0: unknown
};

// CUpti_ActivityMemcpyKind and CUpti_ActivityMemoryKind by number.
struct Copy {
  Times times;
  GpuPlace place;
  std::uint8_t kind = 0, from = 0, to = 0;
  std::uint64_t bytes = 0;
};

struct Fill {
  Times times;
  GpuPlace place;
  std::uint16_t memory = 0;
  std::uint64_t bytes = 0;
};

// A wait: CUpti_ActivitySynchronizationType by number.
struct Sync {
  Times times;
  GpuPlace place;  // stream -1: of the whole context
  std::uint32_t type = 0;
  std::uint32_t event = 0;
};

// The profiler's or driver's own cost: CUpti_ActivityOverheadKind by number.
struct Overhead {
  Times times;
  std::uint32_t kind = 0;
};

// One end of an NVTX range, or a mark.
struct Marker {
  enum class What : std::uint8_t { begin, end, mark };
  What what{};
  Ns time = 0;
  std::uint32_t id = 0;  // joins the ends of a range
  std::uint32_t thread = 0;
  std::string_view name, domain;  // of an end: empty
};

// A context and its device: what waits refer to.
struct ContextSeen {
  std::uint32_t context = 0;
  std::int32_t device = 0;
};

// One record.
using Seen = std::variant<Call, Kernel, Copy, Fill, Sync, Overhead, Marker, ContextSeen>;

// A whole NVTX range.
struct Range {
  Times times;
  std::uint32_t thread = 0;
  std::string name, domain;
};

// CUDA's device attributes; 0 where the driver does not say.
struct Device {
  int id = 0;
  std::string name;
  std::int64_t memory = 0;  // bytes
  int major = 0, minor = 0;
  int threads_per_block = 0, threads_per_sm = 0, registers_per_block = 0, registers_per_sm = 0, warp = 0;
  int shared_per_block = 0, shared_per_block_optin = 0, shared_per_sm = 0;  // bytes
  int sms = 0;
  int clock_khz = 0;                        // of the SMs at their fastest
  int memory_khz = 0, memory_bus_bits = 0;  // the memory's clock, which moves two bits a line

  double peak_dram() const { return 2.0 * memory_khz * 1000 * memory_bus_bits / 8; }  // bytes a second
};

}  // namespace gapscope::sampler
