// torch.add(torch.matmul(x, w), b): a GEMM and an elementwise kernel. With a batch the GEMM is a batched one.
#include "app/workload/cases/case.h"
#include "app/workload/gpu/operators.h"

namespace gapscope::workload {
namespace {

Shape square(const Options& options) {
  if (options.id == CaseId::kBmm || options.batch > 1) return {options.batch, options.size, options.size};
  return {options.size, options.size};
}

class MatmulAdd : public Case {
 public:
  explicit MatmulAdd(const Options& options)
      : size_(options.size),
        x_(random_tensor(square(options), options.dtype, 1)),
        w_(random_tensor(square(options), options.dtype, 2)),
        b_(random_tensor(square(options), options.dtype, 3)),
        product_(square(options), options.dtype),
        sum_(square(options), options.dtype) {}

  void step(Device& device) override {
    aten::matmul(device, x_, w_, product_);
    aten::add(device, product_, b_, sum_);
  }

  std::vector<Comparison> compare(Device&) override {
    const Matrix x = download(x_), w = download(w_), b = download(b_), got = download(sum_);
    std::vector<Comparison> comparisons;
    for (std::int64_t first = 0; first < got.rows; first += size_) {
      const auto part = [&](const Matrix& matrix) { return rows_of(matrix, first, size_); };
      comparisons.push_back({"x @ w + b", part(got), sum(product(part(x), part(w)), part(b)), {2, size_}});
    }
    return comparisons;
  }

 private:
  std::int64_t size_;
  Tensor x_, w_, b_, product_, sum_;
};

}  // namespace

std::unique_ptr<Case> make_matmul_add(const Options& options) { return std::make_unique<MatmulAdd>(options); }

}  // namespace gapscope::workload
