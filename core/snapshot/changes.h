#pragma once
// Two snapshots compared: who holds more, who holds less.
#include <cstdint>
#include <string>
#include <vector>

#include "core/snapshot/holders.h"

namespace gapscope {

struct HolderChange {
  std::string place;  // a line as LineHolder has it, or a kind's name
  std::int64_t before = 0, after = 0;
  std::uint64_t blocks_before = 0, blocks_after = 0;
  std::int64_t difference() const { return after - before; }
};

// The largest difference first, whichever its sign; what is the same in both is left out.
std::vector<HolderChange> changed_lines(const MemoryHolders& before, const MemoryHolders& after);
std::vector<HolderChange> changed_kinds(const MemoryHolders& before, const MemoryHolders& after);

}  // namespace gapscope
