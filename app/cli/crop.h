#pragma once
// `gapscope crop`: a part of a trace as a file of its own.
#include <string>
#include <vector>

namespace gapscope {

struct CropOptions {
  std::string trace;
  std::string from, to;  // see time_argument.h; empty: the trace's begin or end
  std::vector<std::string> lanes;
  std::string output;
};

int crop(const CropOptions& options);

}  // namespace gapscope
