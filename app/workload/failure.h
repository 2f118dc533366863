#pragma once
// How a workload fails: any CUDA, cuBLAS or comparison trouble is thrown as one sentence, and main prints it and ends
// with exit code 1. Nothing catches it earlier, since no step can continue without the one before.
#include <stdexcept>

namespace gapscope::workload {

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace gapscope::workload
