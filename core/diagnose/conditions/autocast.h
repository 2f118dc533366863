#pragma once
// What autocast does inside operators.
#include "core/diagnose/conditions/work_origin.h"
#include "core/diagnose/facts.h"

namespace gapscope {

// The matrix product or convolution in which autocast casts an argument: `cast` is in an aten::to right inside it, or is that.
// None for casts of the program, which come before the product.
SliceId product_cast_for(const Facts& facts, SliceId cast);

// A copy from 32 to 16 bits or back: by its operator's inputs, else by its kernel's name.
bool is_cast_between_widths(const Facts& facts, const GpuOp& op, const WorkOrigin& origin);
// The same for bounds: a copy between types that are not recorded may be one.
bool may_be_cast(const Facts& facts, const GpuOp& op, const WorkOrigin& origin);
// Some products or convolutions are in 16 bits: the program has chosen which are not.
bool has_products_in_16_bits(const Facts& facts);

}  // namespace gapscope
