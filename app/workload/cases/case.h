#pragma once
// A case: data on the GPU, a step that works on it, and the comparison of the last step's results with the CPU's.
#include <memory>
#include <vector>

#include "app/workload/comparison.h"
#include "app/workload/gpu/device.h"
#include "app/workload/options.h"

namespace gapscope::workload {

class Case {
 public:
  virtual ~Case() = default;
  virtual void step(Device& device) = 0;
  // Called after the last step, outside of what is recorded and timed; it may run a step of its own.
  virtual std::vector<Comparison> compare(Device& device) = 0;
};

std::unique_ptr<Case> make_matmul_add(const Options& options);  // matmul-add and bmm
std::unique_ptr<Case> make_addmm(const Options& options);
std::unique_ptr<Case> make_linear(const Options& options);
std::unique_ptr<Case> make_geglu_mlp(const Options& options);
std::unique_ptr<Case> make_mul_add(const Options& options);
std::unique_ptr<Case> make_softmax_matmul(const Options& options);
std::unique_ptr<Case> make_streams(const Options& options);
std::unique_ptr<Case> make_syncs(const Options& options);

std::unique_ptr<Case> make_case(const Options& options);

}  // namespace gapscope::workload
