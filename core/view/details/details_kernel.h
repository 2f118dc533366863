#pragma once
// What the details say about one kernel beyond its figures: its name taken apart, and how well it fits its GPU.
// Parts of make_details (core/view/details/details_model.h).
#include "core/view/details/details_model.h"

namespace gapscope {

// One line for each field that the name tells, its meaning on hover.
DetailsSection decoded_name(std::string_view name);
// The occupancy recomputed from registers, shared memory and block: theoretical and its limiters, then what the grid
// achieves. A line that says why, where the file does not hold what it takes.
std::vector<DetailsLine> occupancy_lines(const Document& doc, const GpuRow& row);

}  // namespace gapscope
