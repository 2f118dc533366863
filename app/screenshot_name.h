#pragma once
#include <string>

namespace gapscope {

// A name for a picture of `trace_path` that no file has yet: beside it, "x.json.gz" gives "x.png", then "x-2.png", ...
// "gapscope.png" in the working directory where there is no trace.
std::string free_screenshot_name(const std::string& trace_path);

}  // namespace gapscope
