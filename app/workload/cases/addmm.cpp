// Matrix product and bias in one operator: torch.addmm in its two ways, and a linear layer, which always takes the
// first.
#include <cmath>

#include "app/workload/cases/case.h"
#include "app/workload/gpu/operators.h"

namespace gapscope::workload {
namespace {

constexpr std::int64_t kLinearGrowth = 4;  // as the first layer of a transformer's MLP

class AddmmWithEpilogue : public Case {
 public:
  explicit AddmmWithEpilogue(const Options& options)
      : bias_(random_tensor({options.size}, options.dtype, 1)),
        a_(random_tensor({options.size, options.size}, options.dtype, 2)),
        b_(random_tensor({options.size, options.size}, options.dtype, 3)),
        out_({options.size, options.size}, options.dtype) {}

  void step(Device& device) override { aten::addmm_with_epilogue(device, bias_, a_, b_, out_); }

  std::vector<Comparison> compare(Device&) override {
    const Matrix want = sum_with_row(product(download(a_), download(b_)), download(bias_));
    return {{"bias + a @ b", download(out_), want, {1, a_.columns()}}};
  }

 private:
  Tensor bias_, a_, b_, out_;
};

class AddmmWithCopy : public Case {
 public:
  explicit AddmmWithCopy(const Options& options)
      : bias_(random_tensor({options.size, options.size}, options.dtype, 1)),
        a_(random_tensor({options.size, options.size}, options.dtype, 2)),
        b_(random_tensor({options.size, options.size}, options.dtype, 3)),
        out_({options.size, options.size}, options.dtype) {}

  void step(Device& device) override { aten::addmm_with_copy(device, bias_, a_, b_, out_); }

  std::vector<Comparison> compare(Device&) override {
    const Matrix want = sum(product(download(a_), download(b_)), download(bias_));
    return {{"bias + a @ b", download(out_), want, {1, a_.columns()}}};
  }

 private:
  Tensor bias_, a_, b_, out_;
};

class Linear : public Case {
 public:
  explicit Linear(const Options& options)
      : x_(random_tensor({options.batch, options.size}, options.dtype, 1)),
        weight_(random_tensor({kLinearGrowth * options.size, options.size}, options.dtype, 2,
                              1 / std::sqrt(static_cast<double>(options.size)))),
        bias_(random_tensor({kLinearGrowth * options.size}, options.dtype, 3)),
        out_({options.batch, kLinearGrowth * options.size}, options.dtype) {}

  void step(Device& device) override { aten::linear(device, x_, weight_, bias_, out_); }

  std::vector<Comparison> compare(Device&) override {
    const Matrix want = sum_with_row(product(download(x_), transposed(download(weight_))), download(bias_));
    return {{"x @ weight' + bias", download(out_), want, {1, x_.columns()}}};
  }

 private:
  Tensor x_, weight_, bias_, out_;
};

}  // namespace

std::unique_ptr<Case> make_addmm(const Options& options) {
  if (options.variant == Variant::kCopy) return std::make_unique<AddmmWithCopy>(options);
  return std::make_unique<AddmmWithEpilogue>(options);
}

std::unique_ptr<Case> make_linear(const Options& options) { return std::make_unique<Linear>(options); }

}  // namespace gapscope::workload
