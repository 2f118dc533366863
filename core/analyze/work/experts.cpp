// A mixture of experts in one call: two products for each token and expert chosen, the first twice as wide where gated.
#include <algorithm>
#include <cmath>

#include "core/analyze/work/families.h"

namespace gapscope::work {
namespace {

struct Experts {
  double tokens = 0, hidden = 0, inner = 0, experts = 0, chosen = 0, gate = 2;
  double weight_bytes = 0;  // of an element
};

Work work_of(const Experts& e, double element) {
  const double pairs = e.tokens * e.chosen;
  const double flops = 2 * pairs * e.hidden * e.inner * (e.gate + 1) + e.tokens * e.hidden * (2 * e.chosen - 1);
  // Experts that some token chose, if all are as likely.
  const double used = e.experts * (1 - std::pow(1 - e.chosen / std::max(e.experts, 1.0), e.tokens));
  const double weights = used * e.hidden * e.inner * (e.gate + 1) * e.weight_bytes;
  return counted(flops, weights + 2 * e.tokens * e.hidden * element);
}

// [tokens, hidden], [experts, 1 or 2 x inner, hidden], [experts, hidden, inner], [tokens, chosen]
Work with_weights(const WorkCall& call) {
  const Sizes &x = call.sizes(0), &up = call.sizes(1), &down = call.sizes(2), &chosen = call.sizes(3);
  if (x.size() != 2 || up.size() != 3 || down.size() != 3 || chosen.size() != 2) return uncounted(kOddShapes);
  const double packed = up[2] > 0 ? std::max(1.0, down[1] / up[2]) : 1;  // two of 4 bits in a byte
  const double inner = down[2] * packed;
  const Experts e{x[0], x[1], inner, up[0], chosen[1], up[1] >= 2 * inner ? 2.0 : 1.0, bytes_of_type(call.at(1).type) / packed};
  return work_of(e, bytes_of_type(call.at(0).type));
}

// "bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x16x256u2...": the second type is the weight's, 4 bits an element and one byte of scale
// for 32.
double weight_bytes(std::string_view kernel) {
  if (kernel.find("E2m1") != std::string_view::npos) return 0.5 + 1.0 / 32;
  return kernel.find("E4m3") != std::string_view::npos ? 1 : 2;
}

double tile_rows(std::string_view kernel) {
  const std::size_t at = kernel.find("_t");
  double out = 0;
  for (std::size_t i = at == std::string_view::npos ? kernel.size() : at + 2;
       i < kernel.size() && kernel[i] >= '0' && kernel[i] <= '9'; ++i)
    out = 10 * out + (kernel[i] - '0');
  return out;
}

// "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu" of Triton's kernels: of the result, of the tokens, of the weights.
double ogs_weight_bytes(std::string_view kernel) {
  if (kernel.find("xmxfp4_") != std::string_view::npos) return 0.5 + 1.0 / 32;
  return kernel.find("xfp8") != std::string_view::npos ? 1 : 2;
}

// Their first product makes a tensor of a row for each token and expert chosen, as wide as the second product reads.
std::optional<Experts> of_triton_kernels(const WorkCall& call, double chosen) {
  const Sizes& x = call.sizes(0);
  const bool gated = std::any_of(call.kernels.begin(), call.kernels.end(),
                                 [](std::string_view k) { return k.find("swiglu") != std::string_view::npos; });
  const auto made = std::find_if(call.made.begin(), call.made.end(), [&](const Sizes& s) {
    return s.size() >= 2 && s.back() > 0 && elements(s) / s.back() == x[0] * chosen;
  });
  if (!call.kernel.starts_with("_matmul_ogs") || made == call.made.end()) return {};
  return Experts{x[0], x[1], made->back(), call.sizes(1)[1], chosen, gated ? 2.0 : 1.0, ogs_weight_bytes(call.kernel)};
}

// Of vLLM's own operator PyTorch writes no weights: how wide the first product is follows from its launch or from what it
// makes, how many experts a token chooses from a tensor [tokens, chosen] that is made on the way.
Work without_weights(const WorkCall& call) {
  const Sizes &x = call.sizes(0), &logits = call.sizes(1);
  if (x.size() != 2 || logits.size() != 2 || x[0] != logits[0]) return uncounted(kOddShapes);
  const bool gated = call.kernel.find("swiGlu") != std::string_view::npos;
  const double wide = tile_rows(call.kernel) * call.grid_x;
  const auto chosen = std::find_if(call.made.begin(), call.made.end(),
                                   [&](const Sizes& s) { return s.size() == 2 && s[0] == x[0] && s[1] < logits[1]; });
  if (const auto e = chosen != call.made.end() ? of_triton_kernels(call, (*chosen)[1]) : std::nullopt)
    return work_of(*e, bytes_of_type(call.at(0).type));
  if (!gated || wide <= 0 || chosen == call.made.end())
    return uncounted("The sizes of its weights are not recorded, and its kernels do not show them.");
  const Experts e{x[0], x[1], wide / 2, logits[1], (*chosen)[1], 2, weight_bytes(call.kernel)};
  return work_of(e, bytes_of_type(call.at(0).type));
}

}  // namespace

Work experts(const WorkCall& call) { return call.sizes(1).size() == 3 ? with_weights(call) : without_weights(call); }

}  // namespace gapscope::work
