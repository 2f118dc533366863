// Products of matrices: 2 M N K a batch, M N more with a bias; both inputs, the bias and the output once.
#include <algorithm>
#include <array>

#include "core/analyze/work/families.h"

namespace gapscope::work {
namespace {

constexpr std::size_t kNone = 99;

// Where a product's arguments stand. A weight of [N, K] is one that is used transposed.
struct Places {
  std::string_view operators;
  std::size_t a, b, bias = kNone;
  bool b_is_n_k = false;
  double packed = 1;  // elements of A and B in one of the recorded: two of 4 bits in a byte
};
constexpr auto kPlaces = std::to_array<Places>({
    {"aten::mm aten::bmm aten::_int_mm aten::mv aten::dot bitsandbytes::int8_linear_matmul sgl_kernel::fp8_scaled_mm "
     "trtllm::cublas_scaled_mm _Linear_yfwd_mm _LinearBackward_xgrad_mm _LinearBackward_wgrad_mm _LayerNormLinear_yfwd_mm "
     "_LayerNormLinearBackward_xgrad_mm _LayerNormLinearBackward_wgrad_mm",
     0, 1},
    {"aten::_scaled_mm", 0, 1, 4},
    {"aten::addmm aten::_addmm_activation aten::baddbmm aten::addmv", 1, 2, 0},
    {"aten::linear vllm::rocm_unquantized_gemm aiter::gemm_a16w16 aiter::gemm_a16w16_asm aiter::tuned_gemm aiter::hipb_mm", 0,
     1, 2, true},
    {"aiter::gemm_a8w8 aiter::gemm_a8w8_ck aiter::gemm_a8w8_blockscale aiter::gemm_a8w8_blockscale_ck "
     "aiter::gemm_a8w8_bpreshuffle aiter::gemm_a8w8_bpreshuffle_ck aiter::gemm_a16w16_atomic_ aiter::wvSplitK "
     "_rocm_C::wvSplitK "
     "_rocm_C::LLMM1 _rocm_C::wvSplitKQ vllm::gemm_with_dynamic_quant vllm::w8a8_block_fp8_matmul "
     "primus_turbo::hipblaslt_gemm_fp8 primus_turbo_cpp_extension::hipblaslt_gemm_fp8",
     0, 1, kNone, true},
    {"aiter::gemm_a4w4 aiter::_gemm_a4w4_asm aiter::gemm_afp4wfp4", 0, 1, kNone, true, 2},
    {"_C::cutlass_scaled_mm _C::cutlass_scaled_mm_azp", 1, 2},
});

bool has_word(std::string_view words, std::string_view word) {
  for (std::size_t at = words.find(word); at != std::string_view::npos; at = words.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' ')) return true;
  }
  return false;
}

const Places* places_of(std::string_view op) {
  const auto* at = std::find_if(kPlaces.begin(), kPlaces.end(), [&](const Places& p) { return has_word(p.operators, op); });
  return at == kPlaces.end() ? nullptr : at;
}

// A vector counts as a matrix of one column.
Sizes as_matrix(Sizes sizes, bool is_first) {
  if (sizes.size() == 1) sizes.insert(is_first ? sizes.begin() : sizes.end(), 1);
  return sizes;
}

// 8-bit operands give 16-bit results, as every library has it; others their own type.
double result_bytes(const WorkArgument& a) { return std::max(bytes_of_type(a.type), 2.0); }

struct Product {
  double batch = 1, m = 0, n = 0, k = 0;
};

std::optional<Product> sizes_of(const Sizes& a, const Sizes& b, bool b_is_n_k) {
  if (a.size() < 2 || b.size() < 2 || b.size() > 3) return {};
  Product out;
  const std::size_t n = b.size();
  out.k = a.back();
  out.n = b_is_n_k ? b[n - 2] : b[n - 1];
  if ((b_is_n_k ? b[n - 1] : b[n - 2]) != out.k) {
    if (!b_is_n_k || b[n - 2] != out.k) return {};  // some store the weight the other way round
    out.n = b[n - 1];
  }
  if (n == 3) {  // one product a batch
    if (a.size() != 3 || a[0] != b[0]) return {};
    out.batch = a[0], out.m = a[1];
  } else {
    out.m = elements(a) / std::max(out.k, 1.0);
  }
  return out;
}

}  // namespace

Work product(const WorkCall& call) {
  const Places* places = places_of(call.op);
  if (!places) return {};
  const WorkArgument &a = call.at(places->a), &b = call.at(places->b);
  const auto p = sizes_of(as_matrix(a.sizes, true), as_matrix(b.sizes, false), places->b_is_n_k);
  if (!p) return uncounted(kOddShapes);
  const WorkArgument& bias = call.at(places->bias);
  const bool has_bias = !bias.sizes.empty();
  const double results = p->batch * p->m * p->n;
  const double flops = 2 * results * p->k * places->packed + (has_bias ? results : 0);
  return counted(flops, a.bytes() + b.bytes() + (has_bias ? bias.bytes() : 0) + results * result_bytes(a));
}

// Rows [M, K] in groups, each with a weight of its own: [G, K, N] or [G, N, K].
Work grouped_product(const WorkCall& call) {
  const WorkArgument &a = call.at(0), &b = call.at(1);
  if (a.sizes.size() != 2 || b.sizes.size() != 3) return uncounted(kOddShapes);
  const double m = a.sizes[0], k = a.sizes[1];
  const bool k_first = b.sizes[1] == k;
  if (!k_first && b.sizes[2] != k) return uncounted(kOddShapes);
  const double n = k_first ? b.sizes[2] : b.sizes[1];
  return counted(2 * m * k * n, a.bytes() + b.bytes() + m * n * result_bytes(a));
}

}  // namespace gapscope::work
