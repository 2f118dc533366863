#include "core/diagnose/conditions/autocast.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace gapscope {
namespace {

// Runs in 16 bits under autocast.
bool is_autocast_product(std::string_view op) {
  constexpr std::array<std::string_view, 6> kProducts = {"aten::linear", "aten::matmul", "aten::addmm",
                                                         "aten::conv1d", "aten::conv2d", "aten::conv3d"};
  return std::find(kProducts.begin(), kProducts.end(), op) != kProducts.end();
}

bool holds(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

// "["c10::BFloat16","float",""]" of aten::copy_(to, from): one in 32 bits and one in 16.
bool are_cast_types(std::string_view types) {
  const bool half = holds(types, "BFloat16") || holds(types, "Half");
  return half && holds(types, "\"float\"");
}

}  // namespace

SliceId product_cast_for(const Facts& facts, SliceId cast) {
  SliceId at = cast;
  while (at && facts.trace.name(at) != "aten::to") at = facts.ancestor(at, kIsAten);
  const SliceId product = at ? facts.ancestor(at, kIsAten) : SliceId{};
  return product && is_autocast_product(facts.trace.name(product)) ? product : SliceId{};
}

bool is_cast_between_widths(const Facts& facts, const GpuOp& op, const WorkOrigin& origin) {
  if (origin.name() != "aten::copy_" || aten_around(facts, origin) != "aten::_to_copy") return false;
  if (!origin.input_types().empty()) return are_cast_types(origin.input_types());
  return holds(facts.name(op), "float16_copy_kernel");
}

bool may_be_cast(const Facts& facts, const GpuOp& op, const WorkOrigin& origin) {
  if (is_cast_between_widths(facts, op, origin)) return true;
  return origin && origin.input_types().empty() && aten_around(facts, origin) == "aten::_to_copy";
}

bool has_products_in_16_bits(const Facts& facts) {
  return std::any_of(facts.ops.begin(), facts.ops.end(), [&](const GpuOp& op) {
    if (!op.is_kernel()) return false;
    const KernelName& name = facts.decoded(op);
    return (name.kind == KernelKind::gemm || name.kind == KernelKind::convolution) &&
           (name.input_type == "bf16" || name.input_type == "fp16");
  });
}

}  // namespace gapscope
