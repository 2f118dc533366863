#pragma once
// Level of detail of one row: its slices in groups that share a column of time, for columns of growing width. A question
// about few pixels then looks at groups, not at slices. Built once; about 3 bytes a slice.
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/time.h"

namespace gapscope {

// Consecutive slices [first, the next group's first). A group of more than one holds only slices shorter than the
// level's column that begin in one column; a longer slice is a group of its own.
struct SliceGroup {
  std::uint32_t first = 0;
  std::uint32_t longest = 0;
};

class RowLevels {
 public:
  // `begin` and `end` are the row's own slices; positions in groups count from the row's first slice.
  RowLevels(std::span<const Ns> begin, std::span<const Ns> end);

  // The coarsest stored level whose column is at most 2^log2_column ns, or null when slices themselves are few enough to
  // look at. A further group past the end closes the last one.
  const std::vector<SliceGroup>* level(int log2_column) const;

 private:
  struct Level {
    int log2_column = 0;
    std::vector<SliceGroup> groups;
  };
  std::vector<Level> levels_;  // columns grow, groups at least halve from one to the next
};

}  // namespace gapscope
