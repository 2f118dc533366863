#include "app/sampler/counters/pm_library.h"

#if GAPSCOPE_HAVE_PM_SAMPLING
#include "app/sampler/cupti_library.h"
#include "app/sampler/find_function.h"

namespace gapscope::sampler {
std::string PmLibrary::load() {
  void* library = open_cupti();
  bool whole = library != nullptr;
  GAPSCOPE_PM_FUNCTIONS(GAPSCOPE_FIND_FUNCTION)
  return whole ? std::string()
               : "The CUPTI library found here cannot sample counters: that of CUDA 12.6 or later is needed, with "
                 "libnvperf_host.so and libnvperf_target.so next to it.";
}

std::string PmLibrary::reason(CUptiResult result) const {
  switch (result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
      return "the driver lets only administrators read counters here. Load the nvidia module with "
             "NVreg_RestrictProfilingToAdminUsers=0 (https://developer.nvidia.com/ERR_NVGPUCTRPERM), or record as root";
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return "this is a virtual GPU (vGPU), whose host does not let its counters be read";
    case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED: return "this GPU is divided (MIG), and its counters cannot be sampled then";
    case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
      return "this GPU is in confidential computing mode, in which its counters cannot be read";
    case CUPTI_ERROR_HARDWARE_BUSY: return "another profiler (Nsight, DCGM) holds the counters of this GPU";
    case CUPTI_ERROR_NOT_SUPPORTED: return "CUPTI does not support this on this GPU (CUPTI_ERROR_NOT_SUPPORTED)";
    default: break;
  }
  const char* why = nullptr;
  result_string(result, &why);
  return why ? why : "no reason given";
}

}  // namespace gapscope::sampler
#endif
