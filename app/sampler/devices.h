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

// Loads the driver and initialises it, in a process of ours that does not use CUDA itself. False: there is no GPU for CUDA.
bool start_driver();

struct Gpu {
  int device = 0;
  std::string bus_id;  // "0000:3B:00.0"
};
// Those on which this process has its primary context, the one that the CUDA runtime uses. None before CUDA is up.
std::vector<Gpu> gpus_in_use();
std::vector<Gpu> all_gpus();

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
