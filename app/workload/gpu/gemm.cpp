#include "app/workload/gpu/gemm.h"

#include "app/workload/failure.h"

namespace gapscope::workload {
namespace {

cudaDataType_t cuda_type(Dtype dtype) {
  if (dtype == Dtype::kBf16) return CUDA_R_16BF;
  return dtype == Dtype::kFp16 ? CUDA_R_16F : CUDA_R_32F;
}

cublasComputeType_t compute_type(Dtype dtype) {
  return dtype == Dtype::kTf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

cublasOperation_t operation(const Factor& factor) { return factor.transposed ? CUBLAS_OP_T : CUBLAS_OP_N; }

std::int64_t rows(const Factor& factor) { return factor.transposed ? factor.tensor.columns() : factor.tensor.rows(); }
std::int64_t columns(const Factor& factor) { return factor.transposed ? factor.tensor.rows() : factor.tensor.columns(); }

void require_fit(const Factor& a, const Factor& b, const Tensor& out) {
  if (columns(a) != rows(b) || rows(a) != out.rows() || columns(b) != out.columns())
    throw Failure("The shapes of a matrix product do not fit: a case of this program is wrong.");
}

// A row-major matrix as cublasLt sees it: its columns are rows.
class Layout {
 public:
  explicit Layout(const Tensor& tensor) {
    check(cublasLtMatrixLayoutCreate(&layout_, cuda_type(tensor.dtype()), static_cast<std::uint64_t>(tensor.columns()),
                                     static_cast<std::uint64_t>(tensor.rows()), tensor.columns()),
          "cublasLtMatrixLayoutCreate");
  }
  ~Layout() { cublasLtMatrixLayoutDestroy(layout_); }
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;
  cublasLtMatrixLayout_t get() const { return layout_; }

 private:
  cublasLtMatrixLayout_t layout_ = nullptr;
};

// The product's description: types, transpositions, and the bias that is added on the way out.
class BiasedProduct {
 public:
  BiasedProduct(const Factor& a, const Factor& b, const Tensor& bias) {
    check(cublasLtMatmulDescCreate(&description_, compute_type(bias.dtype()), CUDA_R_32F), "cublasLtMatmulDescCreate");
    set(CUBLASLT_MATMUL_DESC_TRANSA, operation(b));
    set(CUBLASLT_MATMUL_DESC_TRANSB, operation(a));
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
    set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<const void*>(bias.data()));
    set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, cuda_type(bias.dtype()));
  }
  ~BiasedProduct() { cublasLtMatmulDescDestroy(description_); }
  BiasedProduct(const BiasedProduct&) = delete;
  BiasedProduct& operator=(const BiasedProduct&) = delete;
  cublasLtMatmulDesc_t get() const { return description_; }

 private:
  template <class Value>
  void set(cublasLtMatmulDescAttributes_t attribute, Value value) {
    check(cublasLtMatmulDescSetAttribute(description_, attribute, &value, sizeof value), "cublasLtMatmulDescSetAttribute");
  }

  cublasLtMatmulDesc_t description_ = nullptr;
};

class Preference {
 public:
  Preference() {
    check(cublasLtMatmulPreferenceCreate(&preference_), "cublasLtMatmulPreferenceCreate");
    const std::size_t bytes = Device::kWorkspaceBytes;
    check(cublasLtMatmulPreferenceSetAttribute(preference_, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes),
          "cublasLtMatmulPreferenceSetAttribute");
  }
  ~Preference() { cublasLtMatmulPreferenceDestroy(preference_); }
  Preference(const Preference&) = delete;
  Preference& operator=(const Preference&) = delete;
  cublasLtMatmulPreference_t get() const { return preference_; }

 private:
  cublasLtMatmulPreference_t preference_ = nullptr;
};

// The library's first choice, asked anew for each product as PyTorch does.
cublasLtMatmulAlgo_t chosen_algorithm(Device& device, const BiasedProduct& product, const Layout& first, const Layout& second,
                                      const Layout& out) {
  const Preference preference;
  cublasLtMatmulHeuristicResult_t result{};
  int found = 0;
  check(cublasLtMatmulAlgoGetHeuristic(device.cublas_lt(), product.get(), first.get(), second.get(), out.get(), out.get(),
                                       preference.get(), 1, &result, &found),
        "cublasLtMatmulAlgoGetHeuristic");
  if (found == 0) throw Failure("cublasLt knows no way to multiply these matrices and add a bias: try another --size.");
  return result.algo;
}

}  // namespace

void gemm(Device& device, Factor a, Factor b, Tensor& out, float beta) {
  require_fit(a, b, out);
  const float alpha = 1;
  const cudaDataType_t type = cuda_type(out.dtype());
  check(cublasGemmEx(device.cublas(), operation(b), operation(a), static_cast<int>(columns(b)), static_cast<int>(rows(a)),
                     static_cast<int>(columns(a)), &alpha, b.tensor.data(), type, static_cast<int>(b.tensor.columns()),
                     a.tensor.data(), type, static_cast<int>(a.tensor.columns()), &beta, out.data(), type,
                     static_cast<int>(out.columns()), compute_type(out.dtype()), CUBLAS_GEMM_DEFAULT),
        "cublasGemmEx");
}

void batched_gemm(Device& device, const Tensor& a, const Tensor& b, Tensor& out) {
  const float alpha = 1;
  const float beta = 0;
  const cudaDataType_t type = cuda_type(out.dtype());
  const std::int64_t batch = out.shape()[0], m = a.shape()[1], k = a.shape()[2], n = b.shape()[2];
  check(cublasGemmStridedBatchedEx(device.cublas(), CUBLAS_OP_N, CUBLAS_OP_N, static_cast<int>(n), static_cast<int>(m),
                                   static_cast<int>(k), &alpha, b.data(), type, static_cast<int>(n), k * n, a.data(), type,
                                   static_cast<int>(k), m * k, &beta, out.data(), type, static_cast<int>(n), m * n,
                                   static_cast<int>(batch), compute_type(out.dtype()), CUBLAS_GEMM_DEFAULT),
        "cublasGemmStridedBatchedEx");
}

void gemm_with_bias(Device& device, Factor a, Factor b, const Tensor& bias, Tensor& out) {
  require_fit(a, b, out);
  const float alpha = 1;
  const float beta = 0;
  const BiasedProduct product(a, b, bias);
  const Layout first(b.tensor), second(a.tensor), result(out);
  const cublasLtMatmulAlgo_t algorithm = chosen_algorithm(device, product, first, second, result);
  check(cublasLtMatmul(device.cublas_lt(), product.get(), &alpha, b.tensor.data(), first.get(), a.tensor.data(), second.get(),
                       &beta, out.data(), result.get(), out.data(), result.get(), &algorithm, device.workspace(),
                       Device::kWorkspaceBytes, device.stream()),
        "cublasLtMatmul");
}

}  // namespace gapscope::workload
