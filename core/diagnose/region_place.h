#pragma once
// The place of a finding where the recording has no Python frames.
#include "core/diagnose/code_place.h"

namespace gapscope {

// Without a file: `module` is the innermost annotation of the program around most of its places' time, else the outermost
// operator; empty where neither is.
CodePlace region_place(const Facts& facts, const Finding& finding);

}  // namespace gapscope
