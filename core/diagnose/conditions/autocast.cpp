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

}  // namespace

SliceId product_cast_for(const Facts& facts, SliceId cast) {
  SliceId at = cast;
  while (at && facts.trace.name(at) != "aten::to") at = facts.ancestor(at, kIsAten);
  const SliceId product = at ? facts.ancestor(at, kIsAten) : SliceId{};
  return product && is_autocast_product(facts.trace.name(product)) ? product : SliceId{};
}

}  // namespace gapscope
