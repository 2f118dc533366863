#pragma once
#include <string>

namespace gapscope {

// A name for what is saved of `trace_path`, in its folder: "x.json.gz" gives "x.png" with the ending ".png"; "gapscope.png" in
// the working directory where there is no trace. To be written with IfTaken::number, for it may be taken.
std::string sibling_name(const std::string& trace_path, const std::string& ending);

}  // namespace gapscope
