#include "app/workload/gpu/tensor.h"

#include <random>
#include <utility>
#include <vector>

#include "app/workload/gpu/with_type.h"

namespace gapscope::workload {

Tensor::Tensor(Shape shape, Dtype dtype) : shape_(std::move(shape)), dtype_(dtype) {}

void* Tensor::data() const {
  if (!memory_) memory_ = allocate(bytes());
  return memory_.get();
}

Matrix random_matrix(const Shape& shape, unsigned seed, double amplitude) {
  std::mt19937 random(seed);
  Matrix matrix{element_count(shape) / shape.back(), shape.back(), {}};
  matrix.values.resize(static_cast<std::size_t>(element_count(shape)));
  for (double& value : matrix.values) value = amplitude * (static_cast<double>(random()) * 0x1p-31 - 1);
  return matrix;
}

Tensor random_tensor(Shape shape, Dtype dtype, unsigned seed, double amplitude) {
  Tensor tensor(std::move(shape), dtype);
  upload(random_matrix(tensor.shape(), seed, amplitude), tensor);
  return tensor;
}

void upload(const Matrix& values, Tensor& tensor) {
  std::vector<std::byte> stored(tensor.bytes());
  encode(values.values.data(), tensor.count(), tensor.dtype(), stored.data());
  check(cudaMemcpy(tensor.data(), stored.data(), stored.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
}

Matrix download(const Tensor& tensor) {
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  std::vector<std::byte> stored(tensor.bytes());
  check(cudaMemcpy(stored.data(), tensor.data(), stored.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
  Matrix matrix{tensor.rows(), tensor.columns(), std::vector<double>(static_cast<std::size_t>(tensor.count()))};
  decode(stored.data(), tensor.count(), tensor.dtype(), matrix.values.data());
  return matrix;
}

void encode(const double* values, std::int64_t count, Dtype dtype, void* out) {
  with_type(dtype, [&]<class T>(T) {
    for (std::int64_t i = 0; i < count; ++i) static_cast<T*>(out)[i] = T(static_cast<float>(values[i]));
  });
}

void decode(const void* stored, std::int64_t count, Dtype dtype, double* out) {
  with_type(dtype, [&]<class T>(T) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<float>(static_cast<const T*>(stored)[i]);
  });
}

}  // namespace gapscope::workload
