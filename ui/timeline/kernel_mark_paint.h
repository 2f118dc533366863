#pragma once
// How kernels that a comparison found changed, added or gone look on the lanes and in the legend: a colour and a sign each.
#include "core/view/compare/kernel_marks.h"
#include "core/view/timeline/slice_colour.h"

namespace gapscope {

// Of `changed` or `only`; `in_a`: of the first trace, where what only it has is gone.
Paint mark_paint(KernelMark mark, bool in_a);
const char* mark_sign(KernelMark mark, bool in_a);  // "~ ", "+ ", "- "

}  // namespace gapscope
