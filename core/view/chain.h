#pragma once
// What belongs to a selected slice: its launch, kernels and operator, and the arrows between them. Worked out once when
// the selection changes; bounded, however many kernels one launch has.
#include <cstddef>
#include <string_view>
#include <vector>

#include "core/view/document.h"

namespace gapscope {

constexpr std::size_t kMostArrows = 64;      // more would be a curtain; they are thinned evenly
constexpr std::size_t kMostVisited = 2'000;  // slices below a selected operator that are looked at for launches

struct ChainArrow {
  SliceId from;
  SliceId to;
  StringId category;  // of a flow; none for a launch joined by correlation
};

struct Chain {
  SliceId selection;
  std::vector<SliceId> members;    // outlined thinner; without the selection
  std::vector<ChainArrow> arrows;  // at most kMostArrows
  std::size_t arrow_count = 0;     // before thinning
};

Chain chain_of(const Document& document, SliceId selection);

}  // namespace gapscope
