#pragma once
// How many blocks and warps of a kernel fit on one SM, and what limits them: the occupancy calculation of NVIDIA's
// cudaOccMaxActiveBlocksPerMultiprocessor, which reproduces the value that Kineto writes into a trace. An upper bound
// from the launch, not a measurement. NVIDIA GPUs of compute capability 7.0 and later.
#include <cstdint>
#include <optional>
#include <string>

#include "core/trace/tables.h"

namespace gapscope {

// What one SM offers. Everything must be known.
struct SmLimits {
  std::int64_t compute_major = 0, compute_minor = 0;
  std::int64_t threads = 0;  // resident at a time
  std::int64_t registers = 0;
  std::int64_t shared_memory = 0;         // bytes
  std::int64_t default_block_memory = 0;  // bytes of shared memory a block gets without opting in (48 KiB)
  std::int64_t sms = 0;                   // of the GPU
};
// Nothing where the file lacks a property, or for other GPUs (ROCm, before Volta).
std::optional<SmLimits> sm_limits(const DeviceProperties& device);

struct BlockNeeds {
  std::int64_t threads = 0;        // of a block
  std::int64_t registers = 0;      // per thread; 0 limits nothing
  std::int64_t shared_memory = 0;  // bytes, static and dynamic
};

enum Limiter : std::uint8_t { kByWarps = 1, kByRegisters = 2, kBySharedMemory = 4, kByBlocks = 8 };

constexpr std::int64_t kUnlimited = INT64_MAX;

struct Occupancy {
  std::int64_t by_warps = 0, by_registers = 0, by_shared_memory = 0, by_blocks = 0;  // blocks that each would allow
  std::int64_t active_blocks = 0;                                                    // the least of them
  std::int64_t active_warps = 0;
  std::int64_t max_warps = 0;
  double theoretical = 0;     // active warps / max warps, 0..1
  std::uint8_t limiters = 0;  // every Limiter that ties
};
// Also the what-if of the kernel panel: any block, registers and shared memory. Nothing for an empty or oversized
// block.
std::optional<Occupancy> occupancy(const SmLimits& sm, const BlockNeeds& block);

// Kineto asks with the default limit of shared memory, so it states 0 for every block with more than 48 KiB.
enum class OccupancyRule : std::uint8_t { as_kineto_states, true_value };
// "est. achieved occupancy %": as many of the active blocks as the grid has for each SM. 0..100, rounded as in the
// trace.
std::optional<int> achieved_percent(const SmLimits& sm, const BlockNeeds& block, std::uint64_t grid_blocks, OccupancyRule rule);

BlockNeeds needs_of(const GpuRow& row);
std::uint64_t grid_blocks(const GpuRow& row);
// "registers", "shared memory and blocks": every limiter that ties.
std::string limiter_text(std::uint8_t limiters);
// The warp slots that are in use on average over the SMs, and why no more: "12.5 % of warp slots, limited by registers", or
// "0.8 % of warp slots, limited by the grid: 8 blocks on 132 SMs; per SM up to 37.5 %". Empty for an impossible block.
std::string occupancy_words(const SmLimits& sm, const BlockNeeds& block, std::uint64_t grid_blocks);
// "48.0 KiB": memory of an SM, which comes in powers of 1024.
std::string format_shared_memory(std::uint64_t bytes);

}  // namespace gapscope
