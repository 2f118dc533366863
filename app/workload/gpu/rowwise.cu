// The kernels that bring the elements of a row or a column together.
#include "app/workload/gpu/kernels.h"
#include "app/workload/gpu/with_type.h"

namespace gapscope::workload {
namespace {

constexpr int kWarp = 32;
constexpr int kRowsPerBlock = 4;   // of the softmax, a warp each
constexpr int kColumnThreads = 8;  // of the column sums: threads that share one column
constexpr unsigned kWholeWarp = 0xffffffff;

__device__ float largest_in_warp(float value) {
  for (int step = kWarp / 2; step > 0; step /= 2) value = fmaxf(value, __shfl_xor_sync(kWholeWarp, value, step));
  return value;
}

__device__ float sum_in_warp(float value) {
  for (int step = kWarp / 2; step > 0; step /= 2) value += __shfl_xor_sync(kWholeWarp, value, step);
  return value;
}

unsigned blocks_for(std::int64_t count, int per_block) {
  return static_cast<unsigned>((count + per_block - 1) / per_block);
}

}  // namespace

// A warp a row: its largest element, the sum of the exponentials, the shares.
template <class T>
__global__ void softmax_warp_forward(long long rows, long long columns, const T* in, T* out) {
  const long long row = blockIdx.x * static_cast<long long>(kRowsPerBlock) + threadIdx.y;
  if (row >= rows) return;  // the whole warp
  const T* x = in + row * columns;
  float largest = -INFINITY;
  for (long long j = threadIdx.x; j < columns; j += kWarp) largest = fmaxf(largest, static_cast<float>(x[j]));
  largest = largest_in_warp(largest);
  float total = 0;
  for (long long j = threadIdx.x; j < columns; j += kWarp) total += expf(static_cast<float>(x[j]) - largest);
  total = sum_in_warp(total);
  for (long long j = threadIdx.x; j < columns; j += kWarp)
    out[row * columns + j] = T(expf(static_cast<float>(x[j]) - largest) / total);
}

// A block 32 columns: every thread adds up an eighth of one, then the first row of threads adds up the eighths.
template <class T>
__global__ void reduce_columns_kernel(long long rows, long long columns, const T* in, T* out) {
  __shared__ float parts[kColumnThreads][kWarp];
  const long long column = blockIdx.x * static_cast<long long>(kWarp) + threadIdx.x;
  float part = 0;
  if (column < columns)
    for (long long i = threadIdx.y; i < rows; i += kColumnThreads) part += static_cast<float>(in[i * columns + column]);
  parts[threadIdx.y][threadIdx.x] = part;
  __syncthreads();
  if (threadIdx.y != 0 || column >= columns) return;
  float total = 0;
  for (int k = 0; k < kColumnThreads; ++k) total += parts[k][threadIdx.x];
  out[column] = T(total);
}

void launch_softmax(Device& device, const Tensor& x, Tensor& out) {
  with_type(x.dtype(), [&]<class T>(T) {
    softmax_warp_forward<<<blocks_for(x.rows(), kRowsPerBlock), dim3(kWarp, kRowsPerBlock), 0, device.stream()>>>(
        static_cast<long long>(x.rows()), static_cast<long long>(x.columns()), static_cast<const T*>(x.data()),
        static_cast<T*>(out.data()));
  });
  check(cudaGetLastError(), "launching the softmax kernel");
}

void launch_column_sums(Device& device, const Tensor& x, Tensor& out) {
  with_type(x.dtype(), [&]<class T>(T) {
    reduce_columns_kernel<<<blocks_for(x.columns(), kWarp), dim3(kWarp, kColumnThreads), 0, device.stream()>>>(
        static_cast<long long>(x.rows()), static_cast<long long>(x.columns()), static_cast<const T*>(x.data()),
        static_cast<T*>(out.data()));
  });
  check(cudaGetLastError(), "launching the column sums");
}

}  // namespace gapscope::workload
