#pragma once
// What a critical path adds up to, by cause and name.
#include <optional>
#include <string>
#include <vector>

#include "core/replay/path.h"

namespace gapscope {

struct PathSum {
  HeldBy by{};
  std::optional<IdleCause> cause;  // of the host: what it was in
  StringId name;                   // of the slice: the operation, the call that waited, what the host was in; may be empty
  Ns time = 0;
  std::size_t stretches = 0;
};

// Most time first; together they are as long as the path.
std::vector<PathSum> path_sums(const Trace& trace, const HostTime& host, const Change& change,
                               const std::vector<PathStretch>& path);

// By HeldBy.
std::array<Ns, kHeldBy> held_times(const std::vector<PathStretch>& path);

}  // namespace gapscope
