#pragma once
// A trace written by hand, for tests that need slices but no file.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace/trace.h"

namespace gapscope::test {

struct HandSlice {
  std::string_view name;
  Ns begin = 0;
  Ns end = 0;
  Kind kind = Kind::op;
};

// Slices of one lane, depth by depth, each depth in time order and without overlap.
struct HandLane {
  std::string_view process;
  std::string_view title;
  LaneKind kind = LaneKind::cpu_thread;
  std::vector<std::vector<HandSlice>> depths;
};

std::shared_ptr<Trace> hand_trace(const std::vector<HandLane>& lanes);

}  // namespace gapscope::test
