#pragma once
// The GPU: its main stream, and the library handles, which come into being at their first use, inside a cold first
// step.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <memory>

namespace gapscope::workload {

// Throw a Failure that names the call, unless it succeeded.
void check(cudaError_t status, const char* call);
void check(cublasStatus_t status, const char* call);

// Throws a Failure unless there is a GPU to work on.
void require_device();

struct DeviceFree {
  void operator()(void* memory) const { cudaFree(memory); }
};
using DeviceMemory = std::unique_ptr<void, DeviceFree>;
DeviceMemory allocate(std::size_t bytes);

class Device {
 public:
  // With a stream of its own, which capturing a graph needs; else the default stream, as PyTorch works on.
  explicit Device(bool own_stream);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  cudaStream_t stream() const { return stream_; }
  cublasHandle_t cublas();
  cublasLtHandle_t cublas_lt();
  void* workspace();  // kWorkspaceBytes for either library, which run on one stream and so never at once
  void synchronize();

  static constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;  // what cuBLAS recommends from Hopper on

 private:
  cudaStream_t stream_ = nullptr;
  cublasHandle_t cublas_ = nullptr;
  cublasLtHandle_t cublas_lt_ = nullptr;
  DeviceMemory workspace_;
};

}  // namespace gapscope::workload
