#include "core/analyze/gpu/occupancy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "core/analyze/gpu/occupancy_amd.h"

namespace gapscope {
namespace {

constexpr std::int64_t kWarp = 32;            // threads
constexpr std::int64_t kPartitions = 4;       // of an SM, each with a quarter of the registers; Volta and later
constexpr std::int64_t kRegisterUnit = 256;   // registers are given to a warp in this granularity
constexpr std::int64_t kBlockReserve = 1024;  // bytes of shared memory the system keeps for each block, from 8.0 on
constexpr std::int64_t kOldestMajor = 7, kNewestMajor = 12;  // those whose limits are known

// AMD, CDNA 2 to 4: a CU has four SIMDs, each with a wave's place for 64 threads eight times. A wave's vector registers, those
// for accumulation among them, come in eights; LDS comes in 512 bytes, where a CU has 160 KiB in 1280. Sixteen workgroups of
// more than one wave can wait at barriers at a time.
constexpr std::int64_t kAmdWave = 64, kAmdRegisterUnit = 8, kAmdLdsUnit = 512, kAmdLargeLds = 128 << 10,
                       kAmdLargeLdsUnit = 1280;
constexpr std::int64_t kAmdBarriers = 16;

constexpr std::uint64_t kMostThreads = std::uint64_t{1} << 40;  // of a block in a damaged file; no GPU runs such a one

// Saturates: three numbers of 32 bits.
std::uint64_t product(const std::array<std::uint32_t, 3>& sizes) {
  std::uint64_t out = std::uint64_t{sizes[0]} * sizes[1];
  return __builtin_mul_overflow(out, std::uint64_t{sizes[2]}, &out) ? ~std::uint64_t{0} : out;
}

std::int64_t round_up(std::int64_t n, std::int64_t unit) { return (n + unit - 1) / unit * unit; }

// cudaOccMaxBlocksPerMultiprocessor() in cuda_occupancy.h of CUDA 13.0: maximum number of resident blocks per SM. 7.0,
// 8.0, 9.0 and 10.0 are confirmed by traces.
std::int64_t max_blocks(const SmLimits& sm) {
  if (sm.compute_major == 7) return sm.compute_minor == 5 ? 16 : 32;
  if (sm.compute_major == 8) return sm.compute_minor == 0 ? 32 : sm.compute_minor == 9 ? 24 : 16;
  if (sm.compute_major == 10) return sm.compute_minor == 1 ? 24 : 32;
  if (sm.compute_major == 11) return sm.compute_minor == 0 ? 24 : 32;
  if (sm.compute_major == 12) return 24;
  return 32;
}

std::int64_t blocks_by_registers(const SmLimits& sm, const BlockNeeds& block, std::int64_t warps) {
  if (block.registers == 0) return kUnlimited;
  const std::int64_t a_warp = round_up(block.registers * kWarp, kRegisterUnit);
  return kPartitions * (sm.registers / kPartitions / a_warp) / warps;
}

std::int64_t blocks_by_shared_memory(const SmLimits& sm, const BlockNeeds& block) {
  const bool old = sm.compute_major < 8;
  const std::int64_t a_block = old ? round_up(block.shared_memory, 256) : round_up(block.shared_memory + kBlockReserve, 128);
  return a_block == 0 ? kUnlimited : sm.shared_memory / a_block;
}

std::int64_t wave_of(const SmLimits& sm) { return is_amd(sm) ? kAmdWave : kWarp; }

// In blocks, as the others.
void fit_amd(const SmLimits& sm, const BlockNeeds& block, std::int64_t waves, Occupancy& out) {
  const std::int64_t a_wave = round_up(block.registers, kAmdRegisterUnit);
  const std::int64_t of_simd = sm.registers / kPartitions / kAmdWave;
  const std::int64_t lds = round_up(block.shared_memory, sm.shared_memory > kAmdLargeLds ? kAmdLargeLdsUnit : kAmdLdsUnit);
  out.by_registers = a_wave == 0 ? kUnlimited : kPartitions * (of_simd / a_wave) / waves;
  out.by_shared_memory = lds == 0 ? kUnlimited : sm.shared_memory / lds;
  out.by_blocks = waves > 1 ? kAmdBarriers : out.max_warps;
}

}  // namespace

std::optional<SmLimits> sm_limits(const DeviceProperties& d) {
  const SmLimits sm{d.compute_major,
                    d.compute_minor,
                    d.max_threads_per_sm,
                    d.regs_per_sm,
                    d.shared_mem_per_sm,
                    d.shared_mem_per_block,
                    d.sms};
  const bool nvidia = d.warp_size == 0 || d.warp_size == kWarp;
  const bool known = sm.threads > 0 && sm.registers > 0 && sm.shared_memory > 0 && sm.sms >= 0;
  if (is_amd(sm)) return known && sm.compute_major == 9 && d.warp_size == kAmdWave ? std::optional(sm) : std::nullopt;
  if (!nvidia || !known || sm.compute_major < kOldestMajor || sm.compute_major > kNewestMajor) return {};
  return sm;
}

std::optional<Occupancy> occupancy(const SmLimits& sm, const BlockNeeds& block) {
  const std::int64_t warp = wave_of(sm), warps = (block.threads + warp - 1) / warp;
  Occupancy out;
  out.max_warps = sm.threads / warp;
  if (is_amd(sm) && block.registers == 0) return {};  // not recorded: a kernel has some
  if (warps < 1 || warps > out.max_warps || block.registers < 0 || block.shared_memory < 0) return {};
  out.by_warps = out.max_warps / warps;
  if (is_amd(sm)) {
    fit_amd(sm, block, warps, out);
  } else {
    out.by_registers = blocks_by_registers(sm, block, warps);
    out.by_shared_memory = blocks_by_shared_memory(sm, block);
    out.by_blocks = max_blocks(sm);
  }
  out.active_blocks = std::min({out.by_warps, out.by_registers, out.by_shared_memory, out.by_blocks});
  out.active_warps = out.active_blocks * warps;
  out.theoretical = static_cast<double>(out.active_warps) / static_cast<double>(out.max_warps);
  const auto note = [&](std::int64_t blocks, Limiter limiter) {
    if (blocks == out.active_blocks) out.limiters = static_cast<std::uint8_t>(out.limiters | limiter);
  };
  note(out.by_warps, kByWarps);
  note(out.by_registers, kByRegisters);
  note(out.by_shared_memory, kBySharedMemory);
  note(out.by_blocks, kByBlocks);
  return out;
}

std::optional<int> achieved_percent(const SmLimits& sm, const BlockNeeds& block, std::uint64_t grid, OccupancyRule rule) {
  const std::optional<Occupancy> fit = occupancy(sm, block);
  if (!fit || grid == 0 || sm.sms == 0) return {};  // how many SMs there are may not be known
  if (rule == OccupancyRule::as_kineto_states && block.shared_memory > sm.default_block_memory) return 0;
  // Kineto holds blocks per SM in 32 bits: 7.2 and 7.199... round to different percents.
  const auto blocks_per_sm = static_cast<float>(static_cast<double>(grid) / static_cast<double>(sm.sms));
  const double blocks = std::min(static_cast<double>(fit->active_blocks), static_cast<double>(blocks_per_sm));
  return static_cast<int>(
      std::floor(100 * blocks * static_cast<double>(block.threads) / static_cast<double>(sm.threads) + 0.5));
}

BlockNeeds needs_of(const GpuRow& row) {
  return {static_cast<std::int64_t>(std::min<std::uint64_t>(product(row.block), kMostThreads)), row.registers,
          row.shared_memory};
}

std::uint64_t grid_blocks(const GpuRow& row) { return product(row.grid); }

namespace {

using LimiterNames = std::array<std::pair<Limiter, std::string_view>, 4>;

std::string joined(const LimiterNames& names, std::uint8_t limiters) {
  std::string out;
  for (const auto& [limiter, name] : names)
    if (limiters & limiter) out += (out.empty() ? "" : " and ") + std::string(name);
  return out;
}

}  // namespace

std::string limiter_text(std::uint8_t limiters) {
  return joined({{{kByWarps, "warps"}, {kByRegisters, "registers"}, {kBySharedMemory, "shared memory"}, {kByBlocks, "blocks"}}},
                limiters);
}

std::string limiter_text(const SmLimits& sm, std::uint8_t limiters) {
  if (!is_amd(sm)) return limiter_text(limiters);
  return joined({{{kByWarps, "waves"}, {kByRegisters, "VGPRs"}, {kBySharedMemory, "LDS"}, {kByBlocks, "workgroups"}}},
                limiters);
}

}  // namespace gapscope
