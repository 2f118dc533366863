#pragma once
// What belongs to a selected slice: from the forward operator to the backward operator to their launches and kernels,
// and the arrows between them. Worked out once when the selection changes; bounded, however many kernels one launch has.
#include <cstddef>
#include <string_view>
#include <vector>

#include "core/index/arrow_index.h"

namespace gapscope {

struct Document;
struct Trace;

constexpr std::size_t kMostArrows = 20;      // more would be a curtain; they are thinned evenly
constexpr std::size_t kMostVisited = 2'000;  // slices below the operators of a chain that are looked at for launches

using ChainArrow = Arrow;  // a category only where a flow of the file gave it

struct Chain {
  SliceId selection;
  std::vector<SliceId> members;  // outlined thinner; without the selection
  std::vector<SliceId> work;  // of a step, a region or an operator with more GPU work than arrows: that work, ascending, to be
                              // highlighted in place of outlines and arrows
  std::vector<ChainArrow> arrows;  // at most kMostArrows
  std::size_t arrow_count = 0;     // before thinning
};

Chain chain_of(const Document& document, SliceId selection);

// Whether `slice`, or one of its row that begins inside `span`, is in `work`: for slices folded into one.
bool holds_work(const Trace& trace, const std::vector<SliceId>& work, SliceId slice, Span span);

// What a walk along the arrows of a slice goes through: those that touch it, else those of its chain, in the order of
// their begins.
std::vector<Arrow> arrows_of(const Document& document, SliceId slice);

}  // namespace gapscope
