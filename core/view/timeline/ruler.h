#pragma once
// Ticks of the time axis: steps of 1, 2 or 5 times a power of ten, relative to the start of the trace. Far from the
// start the common leading part moves into one offset label, so that tick labels stay short.
#include <string>
#include <vector>

#include "core/base/time.h"

namespace gapscope {

struct Tick {
  Ns time = 0;         // absolute
  bool major = false;  // with a label
  std::string label;
};

struct Ruler {
  std::vector<Tick> ticks;  // in time order
  std::string offset;       // "+12.34 ms"; empty when labels count from the start of the trace
  Ns step = 0;              // between major ticks
};

// A time since the start with every nanosecond, in the unit that a ruler of that size takes: "150.690428 ms".
std::string exact_time_text(Ns since_start);

// Major ticks of `visible` are at least `min_spacing_px` apart on an axis `width_px` wide.
Ruler make_ruler(Span visible, double width_px, double min_spacing_px, Ns trace_begin);

}  // namespace gapscope
