#pragma once
// What the details say about the arithmetic of an operator, or of the one behind a kernel: operations, the rate that its
// GPU time gives, the share of what the device can do. A part of make_details (core/view/details/details_model.h).
#include "core/view/details/details_model.h"

namespace gapscope {

// Empty for slices without such an operator. `args`: of `slice`; a convolution's stride and padding are among them.
DetailsSection arithmetic(const Document& doc, SliceId slice, const SliceArgs* args);

// "137 GFLOP", "412 TFLOP": three digits and a power of 1000.
std::string flop_text(double count);

}  // namespace gapscope
