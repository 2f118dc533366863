#pragma once
// What a rank's GPU did, stored for drawing when its trace is let go: a row each for computing, communication and copies, at
// most 24 bytes a slice. Slices of a row never overlap. Of a rank with more than there is room for, neighbours with the
// smallest gaps between them are one slice that knows how much of it was work.
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/time.h"

namespace gapscope {

struct FullRank;

struct RowSlice {
  Ns begin = 0;              // of the file
  Ns busy_before = 0;        // work of the row before this slice
  std::uint32_t length = 0;  // ns; a longer stretch is several slices
  std::uint32_t name = 0;    // position in RankRows::names: of the longest that is in it
  Ns end() const { return begin + length; }
};
static_assert(sizeof(RowSlice) == 24);

struct RankRow {
  std::vector<RowSlice> slices;  // by begin; the last one has no length and knows all of the work. Empty: no work

  // Work before `t`; within a slice of several as if it were even.
  Ns busy_until(Ns t) const;
  // The slice that holds `t`, or null.
  const RowSlice* at(Ns t) const;
};

struct RankRows {
  RankRow compute, communication, copies;
  std::vector<std::string> names;
};

// Of the rank's device. `most`: slices a row, at least 2.
RankRows rank_rows(const FullRank& rank, std::size_t most);

}  // namespace gapscope
