#pragma once
#include <string>

namespace gapscope {

// A name for what is saved of `trace_path` that no file has yet: beside it, "x.json.gz" gives "x.png" with the
// ending ".png", then "x-2.png", ... "gapscope.png" in the working directory where there is no trace.
std::string free_name_beside(const std::string& trace_path, const std::string& ending);

}  // namespace gapscope
