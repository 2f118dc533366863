#pragma once
// Where a slice is, from the outside in: process > thread > Python frames > operators > launch > kernel. For GPU work
// the way leads through the thread that launched it, where the file shows.
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/ids.h"

namespace gapscope {

struct Document;

struct Breadcrumb {
  enum class Part { process, lane, slice } part = Part::slice;
  std::string text;  // demangled, whole
  LaneId lane;       // process: its first lane; lane
  SliceId slice;     // slice
};

std::vector<Breadcrumb> breadcrumb(const Document& doc, SliceId slice);

// Parts [first, second) that are folded to "..." so that the others fit into `room`; empty where all fit. First and last
// stay, then the thread, then from the end backwards, since what is near the slice shows most.
std::pair<std::size_t, std::size_t> folded_crumbs(std::span<const float> widths, float separator, float dots, float room);

}  // namespace gapscope
