#include "app/sampler/devices.h"

#include <cuda.h>
#include <dlfcn.h>

#include <utility>

namespace gapscope::sampler {
namespace {

template <class Function>
Function find(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

Driver ask_driver() {
  Driver driver;
  void* library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (!library) return driver;
  const auto version = find<CUresult (*)(int*)>(library, "cuDriverGetVersion");
  const auto count = find<CUresult (*)(int*)>(library, "cuDeviceGetCount");
  const auto attribute = find<CUresult (*)(int*, CUdevice_attribute, CUdevice)>(library, "cuDeviceGetAttribute");
  const auto name = find<CUresult (*)(char*, int, CUdevice)>(library, "cuDeviceGetName");
  const auto memory = find<CUresult (*)(std::size_t*, CUdevice)>(library, "cuDeviceTotalMem_v2");
  if (!version || !count || !attribute || !name || !memory) return driver;
  int devices = 0;
  version(&driver.version);
  if (count(&devices) != CUDA_SUCCESS) return driver;
  for (int i = 0; i < devices; ++i) {
    Device d;
    d.id = i;
    char text[256] = {};
    if (name(text, sizeof text - 1, i) == CUDA_SUCCESS) d.name = text;
    if (std::size_t bytes = 0; memory(&bytes, i) == CUDA_SUCCESS) d.memory = static_cast<std::int64_t>(bytes);
    const std::pair<CUdevice_attribute, int*> wanted[] = {
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &d.major},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &d.minor},
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &d.threads_per_block},
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, &d.threads_per_sm},
        {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, &d.registers_per_block},
        {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, &d.registers_per_sm},
        {CU_DEVICE_ATTRIBUTE_WARP_SIZE, &d.warp},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, &d.shared_per_block},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &d.shared_per_block_optin},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, &d.shared_per_sm},
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &d.sms}};
    for (const auto& [what, where] : wanted) attribute(where, what, i);
    driver.devices.push_back(std::move(d));
  }
  return driver;
}

}  // namespace gapscope::sampler
