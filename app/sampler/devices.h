#pragma once
// What the CUDA driver says of the GPUs.
#include <vector>

#include "app/sampler/activity.h"

namespace gapscope::sampler {

struct Driver {
  int version = 0;  // 13000
  std::vector<Device> devices;
};

// Asks the driver that the program has loaded; empty where there is none. Not from within CUDA's own initialisation.
Driver ask_driver();

}  // namespace gapscope::sampler
