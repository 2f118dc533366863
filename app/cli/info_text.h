#pragma once
// What `gapscope info` says to people: aligned, in units, safe to print to a terminal whatever the trace's names hold.
#include <string>

#include "core/view/document.h"

namespace gapscope {

std::string info_text(const Document& doc);

}  // namespace gapscope
