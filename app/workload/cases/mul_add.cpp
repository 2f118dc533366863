// a * b + c, element by element: two kernels with the product written and read in between, or one.
#include "app/workload/cases/case.h"
#include "app/workload/gpu/operators.h"

namespace gapscope::workload {
namespace {

class MulAdd : public Case {
 public:
  explicit MulAdd(const Options& options)
      : fused_(options.variant == Variant::kFused),
        a_(random_tensor({options.size, options.size}, options.dtype, 1)),
        b_(random_tensor({options.size, options.size}, options.dtype, 2)),
        c_(random_tensor({options.size, options.size}, options.dtype, 3)),
        product_({options.size, options.size}, options.dtype),
        out_({options.size, options.size}, options.dtype) {}

  void step(Device& device) override {
    if (fused_) return aten::addcmul(device, c_, a_, b_, out_);
    aten::mul(device, a_, b_, product_);
    aten::add(device, product_, c_, out_);
  }

  std::vector<Comparison> compare(Device&) override {
    const Matrix want = sum(elementwise_product(download(a_), download(b_)), download(c_));
    return {{"a * b + c", download(out_), want, {fused_ ? 1 : 2, 2}}};
  }

 private:
  bool fused_;
  Tensor a_, b_, c_, product_, out_;
};

}  // namespace

std::unique_ptr<Case> make_mul_add(const Options& options) { return std::make_unique<MulAdd>(options); }

}  // namespace gapscope::workload
