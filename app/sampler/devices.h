#pragma once
// What the CUDA driver says of the GPUs.
#include <string>
#include <vector>

#include "app/sampler/activity.h"

namespace gapscope::sampler {

struct Driver {
  int version = 0;  // 13000
  std::vector<Device> devices;
};

// Asks the driver that the program has loaded; empty where there is none. Not from within CUDA's own initialisation.
Driver ask_driver();

// GPUs on which this process has its primary context, the one that the CUDA runtime uses. None before CUDA is up.
struct GpuInUse {
  int device = 0;
  std::string bus_id;  // "0000:3B:00.0"
};
std::vector<GpuInUse> gpus_in_use();

// The GPU's primary context, held and made this thread's current one. It must be in use already.
class ContextHeld {
 public:
  explicit ContextHeld(int device);
  ~ContextHeld();
  ContextHeld(const ContextHeld&) = delete;
  ContextHeld& operator=(const ContextHeld&) = delete;

 private:
  int device_;
  bool held_ = false, current_ = false;
};

// Bytes a second; 0 where the driver does not say.
double peak_dram(int device);

}  // namespace gapscope::sampler
