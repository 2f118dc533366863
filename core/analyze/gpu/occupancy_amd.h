#pragma once
// AMD's GPUs in the terms of occupancy.h: CDNA 2 to 4 (gfx90a, gfx94x, gfx950). A CU is an SM, a wave a warp, VGPRs (those for
// accumulation among them) are registers, LDS is shared memory, a workgroup is a block. Of others nothing is said.
#include <cstdint>
#include <string>

#include "core/analyze/gpu/occupancy.h"

namespace gapscope {

// 512 VGPRs for each of 64 threads on four SIMDs: twice what any SM of NVIDIA has.
inline constexpr std::int64_t kAmdRegisters = 4 * 64 * 512;
inline bool is_amd(const SmLimits& sm) { return sm.registers == kAmdRegisters; }

// As limiter_text(), in AMD's words where it is AMD's: "VGPRs", "LDS and workgroups".
std::string limiter_text(const SmLimits& sm, std::uint8_t limiters);

}  // namespace gapscope
