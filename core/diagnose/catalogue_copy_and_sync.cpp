// G. Copies, waits, attention, data types.
#include <array>

#include "core/diagnose/catalogue.h"
#include "core/diagnose/rules/rules.h"

namespace gapscope {

std::span<const Rule* const> copy_and_sync_rules() {
  static constexpr std::array kRules = {
      &memcpy_heavy, &pageable_memcpy, &implicit_sync, &long_sync_wait, &launch_blocking, &unfused_attention,
      &fused_attention, &tf32_gemm, &fp32_gemm_cuda_cores};
  return kRules;
}

}  // namespace gapscope
