// The elementwise kernels: one template over the type and the function, 16 bytes of each tensor a thread.
#include "app/workload/gpu/kernels.h"
#include "app/workload/gpu/with_type.h"

namespace gapscope::workload {
namespace {

constexpr int kThreads = 128;  // as PyTorch's elementwise kernels have

template <class T>
struct alignas(16) Pack {
  static constexpr int kSize = 16 / sizeof(T);
  T values[kSize];
};

template <class T, class Function, class... Packs>
__device__ Pack<T> applied(Function function, Packs... packs) {
  Pack<T> result;
#pragma unroll
  for (int i = 0; i < Pack<T>::kSize; ++i) result.values[i] = T(function(static_cast<float>(packs.values[i])...));
  return result;
}

}  // namespace

struct AddFunctor {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct MulFunctor {
  __device__ float operator()(float a, float b) const { return a * b; }
};
struct MulAddFunctor {
  __device__ float operator()(float a, float b, float c) const { return a * b + c; }
};
struct GeluFunctor {
  __device__ float operator()(float x) const { return x * normcdff(x); }
};
struct GeluBackwardFunctor {
  __device__ float operator()(float gradient, float x) const {
    constexpr float kDensityAtZero = 0.3989422804f;  // 1 / sqrt(2 pi)
    return gradient * (normcdff(x) + x * kDensityAtZero * expf(-0.5f * x * x));
  }
};
struct SgdFunctor {
  float rate;
  __device__ float operator()(float parameter, float gradient) const { return parameter - rate * gradient; }
};

// Not in the unnamed namespace, and with the function first: its name is read in recordings.
template <class Function, class T, class... In>
__global__ void vectorized_elementwise_kernel(long long count, Function function, T* out, const In*... in) {
  const long long begin = (blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x) * Pack<T>::kSize;
  if (begin + Pack<T>::kSize <= count) {
    *reinterpret_cast<Pack<T>*>(out + begin) = applied<T>(function, *reinterpret_cast<const Pack<In>*>(in + begin)...);
  } else {
    for (long long i = begin; i < count; ++i) out[i] = T(function(static_cast<float>(in[i])...));
  }
}

namespace {

template <class Function, class... Inputs>
void launch_elementwise(Device& device, Function function, Tensor& out, const Inputs&... in) {
  with_type(out.dtype(), [&]<class T>(T) {
    const std::int64_t per_block = std::int64_t{kThreads} * Pack<T>::kSize;
    const auto blocks = static_cast<unsigned>((out.count() + per_block - 1) / per_block);
    vectorized_elementwise_kernel<<<blocks, kThreads, 0, device.stream()>>>(static_cast<long long>(out.count()),
                                                                            function, static_cast<T*>(out.data()),
                                                                            static_cast<const T*>(in.data())...);
  });
  check(cudaGetLastError(), "launching an elementwise kernel");
}

}  // namespace

void launch_add(Device& device, const Tensor& a, const Tensor& b, Tensor& out) {
  launch_elementwise(device, AddFunctor{}, out, a, b);
}

void launch_mul(Device& device, const Tensor& a, const Tensor& b, Tensor& out) {
  launch_elementwise(device, MulFunctor{}, out, a, b);
}

void launch_mul_add(Device& device, const Tensor& a, const Tensor& b, const Tensor& c, Tensor& out) {
  launch_elementwise(device, MulAddFunctor{}, out, a, b, c);
}

void launch_gelu(Device& device, const Tensor& x, Tensor& out) { launch_elementwise(device, GeluFunctor{}, out, x); }

void launch_gelu_backward(Device& device, const Tensor& gradient, const Tensor& x, Tensor& out) {
  launch_elementwise(device, GeluBackwardFunctor{}, out, gradient, x);
}

void launch_sgd(Device& device, const Tensor& gradient, double rate, Tensor& parameter) {
  launch_elementwise(device, SgdFunctor{static_cast<float>(rate)}, parameter, parameter, gradient);
}

int add_blocks_per_multiprocessor(Dtype dtype) {
  int blocks = 0;
  with_type(dtype, [&]<class T>(T) {
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, vectorized_elementwise_kernel<AddFunctor, T, T, T>,
                                                        kThreads, 0),
          "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  });
  return blocks;
}

}  // namespace gapscope::workload
