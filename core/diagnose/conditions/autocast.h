#pragma once
// What autocast does inside operators.
#include "core/diagnose/facts.h"

namespace gapscope {

// The matrix product or convolution in which autocast casts an argument: `cast` is in an aten::to right inside it, or is that.
// None for casts of the program, which come before the product.
SliceId product_cast_for(const Facts& facts, SliceId cast);

}  // namespace gapscope
