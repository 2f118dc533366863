// matmul-add in which the CPU waits for the GPU between the two, though nothing needs it to.
#include "app/workload/cases/case.h"
#include "app/workload/failure.h"
#include "app/workload/gpu/kernels.h"
#include "app/workload/gpu/operators.h"

namespace gapscope::workload {
namespace {

class Syncs : public Case {
 public:
  explicit Syncs(const Options& options)
      : asks_occupancy_(options.occupancy_query),
        x_(random_tensor({options.size, options.size}, options.dtype, 1)),
        w_(random_tensor({options.size, options.size}, options.dtype, 2)),
        b_(random_tensor({options.size, options.size}, options.dtype, 3)),
        product_({options.size, options.size}, options.dtype),
        sum_({options.size, options.size}, options.dtype) {}

  void step(Device& device) override {
    aten::matmul(device, x_, w_, product_);
    device.synchronize();  // the needless one
    if (asks_occupancy_ && add_blocks_per_multiprocessor(x_.dtype()) == 0)
      throw Failure("cudaOccupancyMaxActiveBlocksPerMultiprocessor says that the add kernel fits on no multiprocessor.");
    aten::add(device, product_, b_, sum_);
  }

  std::vector<Comparison> compare(Device&) override {
    const Matrix want = sum(product(download(x_), download(w_)), download(b_));
    return {{"x @ w + b", download(sum_), want, {2, x_.columns()}}};
  }

 private:
  bool asks_occupancy_;
  Tensor x_, w_, b_, product_, sum_;
};

}  // namespace

std::unique_ptr<Case> make_syncs(const Options& options) { return std::make_unique<Syncs>(options); }

}  // namespace gapscope::workload
