#pragma once
// What the GPU's counters say of a slice: a part of make_details (core/view/details/details_model.h).
#include "core/view/details/details_model.h"

namespace gapscope {

// Without a title where the trace has no counters, the facts are not there yet, or the slice has no GPU work.
DetailsSection counters_of(const Document& doc, SliceId slice);

}  // namespace gapscope
