#pragma once
// What autocast does inside operators.
#include <string_view>

#include "core/diagnose/facts.h"

namespace gapscope {

// A matrix product or convolution that autocast runs in 16 bits.
bool is_autocast_product(std::string_view op);
// The product in which autocast casts an argument: `cast` is in an aten::to right inside it, or is that. None for casts of
// the program, which lie before the product.
SliceId product_cast_for(const Facts& facts, SliceId cast);

}  // namespace gapscope
