#pragma once
// Whether the GPU's numbers are the CPU's, within what rounding can do.
#include <optional>
#include <string>

#include "app/workload/reference.h"

namespace gapscope::workload {

// How a result came about, which bounds its error.
struct Rounding {
  int stores = 1;          // times that a value was rounded to the type on the way, inputs of TF32 products included
  std::int64_t terms = 1;  // the longest sum, accumulated in float
};

struct Comparison {
  std::string what;
  Matrix got;
  Matrix want;
  Rounding rounding;
};

// A share of the numbers' magnitude. A store errs by half a unit in the last place at most: 2^-8 in bf16, 2^-11 in
// fp16, 2^-24 in float; TF32 rounds both factors of a product by 2^-11. Four times that leaves room for elements whose
// terms are larger than themselves. A float sum of n terms errs by n * 2^-24 at most.
double tolerance(Dtype dtype, const Rounding& rounding);

// One sentence about the worst element, if any is off by more than tolerance * (|want| + the root mean square of want):
// a sum that nearly cancels has the error of its terms, not of its own small value. NaN is always off.
std::optional<std::string> mismatch(const Comparison& comparison, Dtype dtype);

}  // namespace gapscope::workload
