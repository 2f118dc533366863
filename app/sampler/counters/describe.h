#pragma once
// What the GPUs of this machine have to be sampled: lines for a person.
#include <string>
#include <vector>

namespace gapscope::sampler {

// Loads the CUDA driver.
std::vector<std::string> describe_all_counters();

}  // namespace gapscope::sampler
