#include "app/sampler/cupti_library.h"

#include <dlfcn.h>

#include <array>

namespace gapscope::sampler {
namespace {

template <class Function>
bool find(void* library, const char* name, Function& out) {
  out = reinterpret_cast<Function>(dlsym(library, name));
  return out != nullptr;
}

}  // namespace

// The one that the program has loaded already, the system's, and the toolkit's that this was built with.
void* open_cupti() {
  constexpr std::array<const char*, 3> kNames = {"libcupti.so." GAPSCOPE_CUDA_MAJOR, "libcupti.so", GAPSCOPE_CUPTI_LIBRARY};
  if (void* loaded = dlopen(kNames[0], RTLD_LAZY | RTLD_NOLOAD)) return loaded;
  for (const char* name : kNames)
    if (void* library = dlopen(name, RTLD_LAZY)) return library;
  return nullptr;
}

std::string CuptiLibrary::load() {
  void* library = open_cupti();
  if (!library)
    return "CUPTI (libcupti.so) was not found. Install the CUDA toolkit's CUPTI, or add its folder to LD_LIBRARY_PATH.";
  const bool whole =
      find(library, "cuptiActivityRegisterCallbacks", register_callbacks) &&
      find(library, "cuptiActivityRegisterTimestampCallback", register_timestamps) &&
      find(library, "cuptiActivityEnable", enable) && find(library, "cuptiActivityDisable", disable) &&
      find(library, "cuptiActivityEnableRuntimeApi", enable_runtime_call) &&
      find(library, "cuptiActivityEnableDriverApi", enable_driver_call) && find(library, "cuptiActivityFlushAll", flush_all) &&
      find(library, "cuptiActivityGetNextRecord", next_record) && find(library, "cuptiActivityGetNumDroppedRecords", dropped) &&
      find(library, "cuptiActivityEnableLatencyTimestamps", latency_timestamps) &&
      find(library, "cuptiSetThreadIdType", set_thread_id_type) && find(library, "cuptiGetCallbackName", callback_name) &&
      find(library, "cuptiGetResultString", result_string) && find(library, "cuptiGetVersion", version) &&
      find(library, "InitializeInjectionNvtx2", initialize_nvtx);
  return whole ? std::string() : "The CUPTI library found here is too old: CUDA 12 or later is needed.";
}

}  // namespace gapscope::sampler
