#pragma once
// `gapscope trend FOLDER [--json | --csv]`: how step time and GPU use went over the recordings of `gapscope attach --watch`.
#include <string>

namespace gapscope {

struct TrendOptions {
  std::string folder;
  bool json = false, csv = false;
};

int trend(const TrendOptions& options);

}  // namespace gapscope
