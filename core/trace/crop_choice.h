#pragma once
// Which part of a trace is wanted in a file of its own. Made by core/index/choose_crop, carried out by core/load/crop.
#include <cstdint>
#include <vector>

#include "core/base/time.h"

namespace gapscope {

struct CropChoice {
  Span window;
  bool everything = false;   // all of the trace, whatever is outside its span too
  std::vector<bool> lanes;   // by LaneId: instants of these, and counters of their processes, stay within the window
  std::vector<bool> slices;  // by SliceId
  std::uint64_t slice_count = 0;
  std::uint64_t partners = 0;  // of those, included for another slice's sake
};

}  // namespace gapscope
