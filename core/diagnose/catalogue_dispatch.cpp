// D. From the operator to the kernel.
#include <array>

#include "core/diagnose/catalogue.h"
#include "core/diagnose/rules/rules.h"

namespace gapscope {

std::span<const Rule* const> dispatch_rules() {
  static constexpr std::array kRules = {
      &dispatch_chain, &matmul_to_mm, &matmul_to_bmm, &addmm_dispatch_fusion, &gemm_bias_epilogue, &metadata_only_ops,
      &gemm_layout_suffix};
  return kRules;
}

}  // namespace gapscope
