#pragma once
// A replayed graph against a capture: which call made which node. Both are read in order; what one side does not have is
// skipped.
//
// Where the capturing calls state `graph node id`, these say it all. Else names of kernels on both sides (ROCm) are compared,
// of copies and fills their kind. Work that ran on several streams without ids has no one order: each stream is read in its
// own, then what is left is known by name where both sides have it as often. Without names (CUDA) the kinds of both must be the
// same from begin to end.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/analyze/captured/captures.h"
#include "core/analyze/captured/replays.h"

namespace gapscope {

struct Alignment {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::vector<std::uint32_t> call_of;  // position among the capture's calls, by node
  std::size_t matched = 0;             // nodes with a call
  bool has_names = false;              // the capture states the names of its kernels, or the ids of its nodes

  // Enough to be the capture of this graph: all of it, or with names at least nine tenths of either side.
  bool is_capture(const ReplayedGraph& graph, const Capture& capture) const;
};
Alignment align(const Trace& trace, const ReplayedGraph& graph, const Capture& capture);

// Where the two first differ, counted from 1: "37 kernels were captured and 421 replayed; number 1 is A in the replay and B in
// the capture".
std::string difference_words(const Trace& trace, const ReplayedGraph& graph, const Capture& capture);

}  // namespace gapscope
