#pragma once
// The files that slices name (core/trace/source_place.h), on this machine.
#include <optional>
#include <string>
#include <vector>

#include "core/trace/source_place.h"

namespace gapscope {

struct Trace;

// The same file on this machine, by lines "recorded=here" as of "/workspace/src=/home/me/src": the first that makes an existing
// file of it; the path itself where none does.
std::string path_here(const std::string& recorded, const std::vector<std::string>& paths);
// As wherever a source file is opened or read: by these lines, else in the folder of the trace. None where it is not on this
// machine; a path that is not absolute is never looked for in the working directory.
std::optional<std::string> source_here(const Trace& trace, const std::string& recorded, const std::vector<std::string>& paths);

}  // namespace gapscope
