#pragma once
// A dense block of numbers on the GPU, rows stored one after another.
#include <cstdint>

#include "app/workload/dtype.h"
#include "app/workload/gpu/device.h"
#include "app/workload/operator_text.h"
#include "app/workload/reference.h"

namespace gapscope::workload {

class Tensor {
 public:
  // Takes memory when data() is first asked for, so that a cold first step allocates its results.
  Tensor(Shape shape, Dtype dtype);

  const Shape& shape() const { return shape_; }
  Dtype dtype() const { return dtype_; }
  std::int64_t count() const { return element_count(shape_); }
  std::int64_t columns() const { return shape_.back(); }
  std::int64_t rows() const { return count() / columns(); }  // all outer dimensions taken together
  std::size_t bytes() const { return static_cast<std::size_t>(count()) * bytes_of(dtype_); }
  void* data() const;

  OperatorInput input() const { return tensor_input(shape_, dtype_); }

 private:
  Shape shape_;
  Dtype dtype_;
  mutable DeviceMemory memory_;
};

// Numbers from -amplitude to amplitude, the same ones for the same seed.
Matrix random_matrix(const Shape& shape, unsigned seed, double amplitude);
Tensor random_tensor(Shape shape, Dtype dtype, unsigned seed, double amplitude = 1);

void upload(const Matrix& values, Tensor& tensor);

// The numbers as they are stored on the GPU, after all work that was launched before.
Matrix download(const Tensor& tensor);

// Between doubles and stored numbers, on the CPU.
void encode(const double* values, std::int64_t count, Dtype dtype, void* out);
void decode(const void* stored, std::int64_t count, Dtype dtype, double* out);

}  // namespace gapscope::workload
