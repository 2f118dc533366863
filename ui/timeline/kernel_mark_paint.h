#pragma once
// How kernels that a comparison found changed, added or gone look on the lanes and in the legend: a colour and a sign each.
#include "core/view/compare/kernel_marks.h"
#include "core/view/timeline/slice_colour.h"
#include "ui/widgets/theme.h"

namespace gapscope {

constexpr double kLeastMarkContrast = 3;  // with the ground of lanes: WCAG 2.1 asks it of what is no text
// Of `changed` or `only`; `in_a`: of the first trace, where what only it has is gone.
Paint mark_paint(const Theme& theme, KernelMark mark, bool in_a);
const char* mark_sign(KernelMark mark, bool in_a);  // "~ ", "+ ", "- "

}  // namespace gapscope
