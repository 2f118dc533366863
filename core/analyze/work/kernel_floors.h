#pragma once
// The floors of many GPU operations: that of a row of calls is worked out once.
#include <optional>
#include <vector>

#include "core/analyze/work/floors.h"

namespace gapscope {

// Refers to both, which must outlive it.
class KernelFloors {
 public:
  KernelFloors(const Trace& trace, const WorkTable& table);
  // As floor_of_kernel().
  std::optional<double> of(SliceId kernel) const;

 private:
  const Trace& trace_;
  const WorkTable& table_;
  std::vector<std::optional<double>> of_rows_;  // of all calls of each, nanoseconds
};

// Of one operation of a call whose row's calls have this floor all together.
std::optional<double> share_of_floor(const Trace& trace, const WorkTable& table, const CallWork& call,
                                     std::optional<double> floor_ns, SliceId kernel);

}  // namespace gapscope
