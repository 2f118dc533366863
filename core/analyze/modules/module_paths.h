#pragma once
// The tree of modules as call paths, for the flame graph: GPU time under the modules that it belongs to.
#include "core/analyze/modules/modules.h"
#include "core/analyze/operators/call_paths.h"

namespace gapscope {

// Node 0 is all that belongs to some module; `count` is calls. What only another recording's capture has frames of is left
// out.
CallPaths module_paths(const Trace& trace, const ModuleUse& use);

}  // namespace gapscope
