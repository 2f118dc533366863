#include "app/workload/gpu/device.h"

#include <string>

#include "app/workload/failure.h"

namespace gapscope::workload {
namespace {

[[noreturn]] void fail(const char* call, const std::string& reason) {
  throw Failure(std::string(call) + " failed: " + reason + ".");
}

}  // namespace

void check(cudaError_t status, const char* call) {
  if (status != cudaSuccess) fail(call, cudaGetErrorString(status));
}

void check(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS) fail(call, cublasGetStatusString(status));
}

void require_device() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count > 0) return;
  const std::string reason = status == cudaSuccess ? "it finds none" : cudaGetErrorString(status);
  throw Failure("There is no CUDA device here (cudaGetDeviceCount: " + reason +
                "); workloads need an NVIDIA GPU and its driver.");
}

DeviceMemory allocate(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes), "cudaMalloc");
  return DeviceMemory(memory);
}

Device::Device(bool own_stream) {
  if (own_stream) check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
}

// What fails here failed before and was said then.
Device::~Device() {
  if (cublas_lt_) cublasLtDestroy(cublas_lt_);
  if (cublas_) cublasDestroy(cublas_);
  if (stream_) cudaStreamDestroy(stream_);
}

cublasHandle_t Device::cublas() {
  if (cublas_) return cublas_;
  check(cublasCreate(&cublas_), "cublasCreate");
  check(cublasSetStream(cublas_, stream_), "cublasSetStream");
  check(cublasSetWorkspace(cublas_, workspace(), kWorkspaceBytes), "cublasSetWorkspace");
  return cublas_;
}

cublasLtHandle_t Device::cublas_lt() {
  if (!cublas_lt_) check(cublasLtCreate(&cublas_lt_), "cublasLtCreate");
  return cublas_lt_;
}

void* Device::workspace() {
  if (!workspace_) workspace_ = allocate(kWorkspaceBytes);
  return workspace_.get();
}

void Device::synchronize() { check(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); }

}  // namespace gapscope::workload
