#pragma once
// Slices that belong together (those of a table's row, of a kernel), to be walked one by one from wherever the selection is.
#include <string>
#include <vector>

#include "core/trace/trace.h"

namespace gapscope {

struct SliceCycle {
  std::string title;            // what they have in common: "aten::mm"
  std::vector<SliceId> slices;  // in order of begin

  // The one after (before) `from`, round and round; the first (last) where `from` is none of them.
  SliceId next(SliceId from) const;
  SliceId previous(SliceId from) const;
  // The place of `slice`, counted from 1; 0 where it is none of them.
  std::size_t position(SliceId slice) const;
};

// Orders by begin, then id.
void sort_by_begin(const Trace& trace, std::vector<SliceId>& slices);

}  // namespace gapscope
