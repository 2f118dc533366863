#pragma once
// What the names of CUDA's calls say about them, as Kineto holds it.
#include <string_view>

namespace gapscope::sampler {

// True where Kineto lets an arrow begin: calls that start GPU work or wait for it.
bool starts_flow(std::string_view call);
// Calls that Kineto leaves out because they are many and cost nothing, and driver calls that say nothing about the GPU's work.
bool is_left_out(std::string_view call, bool driver);

}  // namespace gapscope::sampler
