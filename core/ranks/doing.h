#pragma once
// What a rank was doing in stretches of its time: kernels and copies on its GPU, and where that was idle, what the host was
// in.
#include <string>
#include <vector>

#include "core/ranks/read_rank.h"

namespace gapscope {

struct Doing {
  std::string name;  // "planted_delay in train.py(12): step", "aten::mm", a kernel's name
  Ns time = 0;
};

struct DoingAnswer {
  std::vector<Doing> doing;  // the longest, most time first; together at most as long as the account's window
  AccountTimes account;      // of the stretches together
};

// `spans`: times of the file; what is outside the rank's window does not count.
DoingAnswer doing_in(const FullRank& rank, const SpanSet& spans, std::size_t most = 8);

}  // namespace gapscope
