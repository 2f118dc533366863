#pragma once
// `gapscope roofline TRACE`: how long each operator had to take, and how far from it the run was.
#include <string>

#include "core/analyze/gpu/devices.h"

namespace gapscope {

struct RooflineOptions {
  std::string trace;  // "-" is standard input
  RoofOptions roofs;
  bool json = false, csv = false, by_module = false, by_step = false;
};

int roofline(const RooflineOptions& options);

}  // namespace gapscope
