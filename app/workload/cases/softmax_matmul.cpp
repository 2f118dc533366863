// torch.softmax(torch.matmul(x, w), -1).
#include <cmath>

#include "app/workload/cases/case.h"
#include "app/workload/gpu/operators.h"

namespace gapscope::workload {
namespace {

class SoftmaxMatmul : public Case {
 public:
  explicit SoftmaxMatmul(const Options& options)
      : x_(random_tensor({options.size, options.size}, options.dtype, 1)),
        w_(random_tensor({options.size, options.size}, options.dtype, 2,
                         1 / std::sqrt(static_cast<double>(options.size)))),  // keeps the exponents near 1
        product_({options.size, options.size}, options.dtype),
        out_({options.size, options.size}, options.dtype) {}

  void step(Device& device) override {
    aten::matmul(device, x_, w_, product_);
    aten::softmax(device, product_, out_);
  }

  std::vector<Comparison> compare(Device&) override {
    const Matrix want = softmax_of_rows(product(download(x_), download(w_)));
    return {{"softmax(x @ w)", download(out_), want, {2, x_.columns()}}};
  }

 private:
  Tensor x_, w_, product_, out_;
};

}  // namespace

std::unique_ptr<Case> make_softmax_matmul(const Options& options) { return std::make_unique<SoftmaxMatmul>(options); }

}  // namespace gapscope::workload
