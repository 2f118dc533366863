#include "app/sampler/devices.h"

#include <cuda.h>
#include <dlfcn.h>

#include <utility>

#include "app/sampler/find_function.h"

namespace gapscope::sampler {
namespace {

// The driver's own types say too little here: by the type that is written down.
template <class Function>
Function find(void* library, const char* name) {
  Function found = nullptr;
  find_function(library, name, found);
  return found;
}

void* loaded_driver() { return dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD); }

}  // namespace

Driver ask_driver() {
  Driver driver;
  void* library = loaded_driver();
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
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &d.sms},
        {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, &d.clock_khz},
        {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, &d.memory_khz},
        {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, &d.memory_bus_bits}};
    for (const auto& [what, where] : wanted) attribute(where, what, i);
    driver.devices.push_back(std::move(d));
  }
  return driver;
}

bool start_driver() {
  void* library = dlopen("libcuda.so.1", RTLD_LAZY);
  const auto initialize = library ? find<CUresult (*)(unsigned)>(library, "cuInit") : nullptr;
  return initialize && initialize(0) == CUDA_SUCCESS;
}

namespace {
template <class Wanted>
std::vector<Gpu> gpus_that(Wanted wanted) {
  std::vector<Gpu> gpus;
  void* library = loaded_driver();
  if (!library) return gpus;
  const auto count = find<CUresult (*)(int*)>(library, "cuDeviceGetCount");
  const auto bus_id = find<CUresult (*)(char*, int, CUdevice)>(library, "cuDeviceGetPCIBusId");
  int devices = 0;
  if (!count || !bus_id || count(&devices) != CUDA_SUCCESS) return gpus;
  for (int i = 0; i < devices; ++i) {
    if (!wanted(library, i)) continue;
    char text[64] = {};
    bus_id(text, sizeof text - 1, i);
    gpus.push_back({i, text});
  }
  return gpus;
}
}  // namespace

std::vector<Gpu> gpus_in_use() {
  return gpus_that([](void* library, int device) {
    const auto state = find<CUresult (*)(CUdevice, unsigned*, int*)>(library, "cuDevicePrimaryCtxGetState");
    unsigned flags = 0;
    int active = 0;
    return state && state(device, &flags, &active) == CUDA_SUCCESS && active != 0;
  });
}

std::vector<Gpu> all_gpus() {
  return gpus_that([](void*, int) { return true; });
}

ContextHeld::ContextHeld(int device) : device_(device) {
  void* library = loaded_driver();
  if (!library) return;
  const auto retain = find<CUresult (*)(CUcontext*, CUdevice)>(library, "cuDevicePrimaryCtxRetain");
  const auto push = find<CUresult (*)(CUcontext)>(library, "cuCtxPushCurrent_v2");
  CUcontext context = nullptr;
  held_ = retain && push && retain(&context, device) == CUDA_SUCCESS;
  current_ = held_ && push(context) == CUDA_SUCCESS;
}

ContextHeld::~ContextHeld() {
  void* library = held_ ? loaded_driver() : nullptr;
  if (!library) return;
  CUcontext context = nullptr;
  if (current_) find<CUresult (*)(CUcontext*)>(library, "cuCtxPopCurrent_v2")(&context);
  find<CUresult (*)(CUdevice)>(library, "cuDevicePrimaryCtxRelease_v2")(device_);
}

double peak_dram(int device) {
  const std::vector<Device> devices = ask_driver().devices;
  const auto at = static_cast<std::size_t>(device);
  return at < devices.size() ? devices[at].peak_dram() : 0;
}

}  // namespace gapscope::sampler
