#pragma once
// What the details say about one kernel beyond its figures: its name taken apart, and how well it fits its GPU.
// Parts of make_details (core/view/details/details_model.h).
#include "core/view/details/details_model.h"

namespace gapscope {

// One line for each field that the name tells, its meaning on hover.
DetailsSection decoded_name(std::string_view name);
// The occupancy worked out from registers, shared memory, block and grid, in one sentence, the headline first; how it comes
// about and what the file states on hover. Where the file does not hold what it takes, what it states, and why that is all.
DetailsLine occupancy_line(const Document& doc, const GpuRow& row);

// The command that profiles this launch again with Nsight Compute; without a title where there is none. `command` may be null:
// its place among the launches is not counted yet.
DetailsSection ncu_section(const Document& doc, SliceId kernel, const KernelCommand* command);

}  // namespace gapscope
