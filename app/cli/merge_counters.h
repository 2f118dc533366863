#pragma once
// `gapscope merge-counters`: PyTorch's trace with the counters that `gapscope record --counters` took meanwhile.
#include <string>

namespace gapscope {

struct MergeCountersOptions {
  std::string trace, counters, output;
};

int merge_counters(const MergeCountersOptions& options);

}  // namespace gapscope
