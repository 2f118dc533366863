#pragma once
// A page of the guide, scrolled by itself, in what is left of the window.
#include "core/diagnose/guide.h"
#include "ui/widgets/theme.h"

namespace gapscope {

void draw_guide_page(const GuidePage& page, const Theme& theme, float scale);

}  // namespace gapscope
