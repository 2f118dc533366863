#pragma once
// First calls of a library's product, convolution or attention with given shapes, which make something that lasts.
#include <vector>

#include "core/diagnose/facts.h"

namespace gapscope {

struct FirstLibraryCall {
  SliceId op;
  Ns time = 0, usual = 0;  // without the profiler's own work; of the later calls at the median
};
std::vector<FirstLibraryCall> first_library_calls(const Facts& facts);
// Whether they come with the sizes that change from step to step: no warm-up is behind them.
bool come_with_new_sizes(const Facts& facts, const std::vector<FirstLibraryCall>& calls);

}  // namespace gapscope
