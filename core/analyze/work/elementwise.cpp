// Elementwise work: an operation an element of the result (0 of a copy); each input's own elements once, the result once. What
// works in place reads and writes.
#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "core/analyze/work/families.h"

namespace gapscope::work {
namespace {

// Names without "aten::" and the "_" of in-place work, by how many arguments they read.
enum class Reads : std::uint8_t { none, one, two, three, copies };
constexpr auto kByName = std::to_array<std::pair<Reads, std::string_view>>({
    {Reads::none, " fill zero normal uniform bernoulli random exponential log_normal cauchy geometric "},
    {Reads::copies, " copy "},
    {Reads::one,
     " abs acos acosh angle asin asinh atan atanh bitwise_not ceil celu clamp clamp_max clamp_min clip conj_physical cos cosh "
     "deg2rad digamma dropout elu erf erfc erfinv exp exp2 expm1 floor frac gelu glu hardshrink hardsigmoid hardswish hardtanh "
     "i0 isfinite isinf isnan isneginf isposinf leaky_relu lgamma log log10 log1p log2 log_sigmoid_forward logical_not "
     "logit mish native_dropout nan_to_num neg positive rad2deg reciprocal relu relu6 round rrelu rsqrt selu sgn sigmoid sign "
     "signbit silu sin sinc sinh softplus softshrink sqrt square tan tanh threshold tril triu trunc roll flip "
     "_fused_dropout masked_fill_scalar "},
    {Reads::two,
     " add add_relu atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign div divide eq "
     "elu_backward floor_divide fmax fmin fmod gelu_backward glu_backward ge gt hardsigmoid_backward hardswish_backward "
     "hardtanh_backward heaviside huber_loss hypot le leaky_relu_backward lerp_scalar log_sigmoid_backward logaddexp "
     "logaddexp2 logical_and logical_or logical_xor logit_backward lt masked_fill masked_scale maximum minimum "
     "mish_backward mse_loss mul multiply native_dropout_backward ne nextafter polar pow prelu relu_backward remainder "
     "rsub sigmoid_backward silu_backward smooth_l1_loss softplus_backward softshrink_backward sub subtract tanh_backward "
     "threshold_backward true_divide xlogy complex _prelu_kernel binary_cross_entropy binary_cross_entropy_with_logits "
     "LigerSiLUMulFunction silu_and_mul gelu_and_mul "},
    {Reads::three,
     " addcdiv addcmul lerp where mse_loss_backward smooth_l1_loss_backward huber_loss_backward "
     "binary_cross_entropy_backward _prelu_kernel_backward "},
});
// Whose result is one byte an element.
constexpr std::string_view kTells =
    " eq ne lt le gt ge isnan isinf isfinite isneginf isposinf logical_and logical_not logical_or logical_xor signbit ";

std::string_view plain(std::string_view op) {
  if (const std::size_t at = op.rfind("::"); at != std::string_view::npos) op.remove_prefix(at + 2);
  if (op.size() > 1 && op.back() == '_') op.remove_suffix(1);
  return op;
}

bool holds(std::string_view words, std::string_view word) {
  const std::size_t at = words.find(word);
  if (word.empty() || at == std::string_view::npos) return false;
  if (at > 0 && words[at - 1] == ' ' && at + word.size() < words.size() && words[at + word.size()] == ' ') return true;
  return holds(words.substr(at + 1), word);
}

std::optional<Reads> reads_of(std::string_view op) {
  for (const auto& [reads, words] : kByName)
    if (holds(words, plain(op))) return reads;
  return {};
}

// Sizes as NumPy broadcasts them.
Sizes broadcast(const Sizes& a, const Sizes& b) {
  const Sizes &longer = a.size() < b.size() ? b : a, &shorter = a.size() < b.size() ? a : b;
  Sizes out = longer;
  const std::size_t shift = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    double& size = out[i + shift];
    size = size == 1 ? shorter[i] : size;
  }
  return out;
}

bool is_floating(std::string_view type) {
  return type == "float" || type == "double" || type == "c10::Half" || type == "c10::BFloat16" ||
         type.starts_with("c10::Float");
}

// PyTorch's promotion: a floating type wins over integers, tensors with sizes over those without.
double promoted_bytes(std::span<const WorkArgument> arguments) {
  double best = 0;
  std::pair<bool, bool> best_rank{false, false};
  for (const WorkArgument& a : arguments) {
    if (!a.is_tensor()) continue;
    const std::pair rank{!a.sizes.empty(), is_floating(a.type)};
    const double bytes = bytes_of_type(a.type);
    if (best == 0 || rank > best_rank) best = bytes, best_rank = rank;
    if (rank == best_rank) best = std::max(best, bytes);
  }
  return best;
}

Work written_only(const WorkCall& call) {
  const WorkArgument& a = call.at(0);
  return a.is_tensor() ? counted(a.count(), a.bytes()) : uncounted(kOddShapes);
}

}  // namespace

std::vector<std::string_view> elementwise_names() {
  std::vector<std::string_view> out;
  for (const auto& line : kByName) {
    std::string_view words = line.second;
    for (std::size_t end = words.find(' ', 1); end != std::string_view::npos; end = words.find(' ', 1)) {
      out.push_back(words.substr(1, end - 1));
      words.remove_prefix(end);
    }
  }
  return out;
}

Work elementwise(const WorkCall& call) {
  const auto reads = reads_of(call.op);
  if (!reads || call.size() == 0) return uncounted(kOddShapes);
  if (*reads == Reads::none) return written_only(call);
  if (*reads == Reads::copies) return counted(0, call.at(0).bytes() + call.at(1).bytes());
  const auto inputs = static_cast<std::size_t>(*reads);
  Sizes result;
  double read = 0;
  for (std::size_t i = 0; i < inputs; ++i) {
    const WorkArgument& a = call.at(i);
    if (!a.is_tensor()) continue;
    result = broadcast(result, a.sizes);
    read += a.bytes();
  }
  if (read == 0) return uncounted(kOddShapes);
  const std::string_view name = plain(call.op);
  const bool in_place = call.op.ends_with('_');
  double element = in_place ? bytes_of_type(call.at(0).type)
                            : promoted_bytes(std::span(call.arguments).first(std::min(inputs, call.size())));
  if (!in_place && holds(kTells, name)) element = 1;
  if (name == "where")
    element = promoted_bytes(std::span(call.arguments).subspan(1, std::min<std::size_t>(call.size() - 1, 2)));
  if (name == "native_dropout" || name == "_fused_dropout") element += 1;  // and its mask
  return counted(elements(result), read + elements(result) * element);
}

// Kernels that torch.compile generates: their arithmetic is not stated, their tensors are.
Work triton(const WorkCall& call) {
  const Work out = every_argument(call);
  return out.bytes && *out.bytes > 0 ? out : uncounted(kOddShapes);
}

}  // namespace gapscope::work
