#pragma once
// CUPTI's PM sampling, found when it is asked for. A CUPTI that is too old to have it (before 12.6) leaves `sentence`.
#if __has_include(<cupti_pmsampling.h>) && __has_include(<cupti_profiler_host.h>)
#define GAPSCOPE_HAVE_PM_SAMPLING 1
#else
#define GAPSCOPE_HAVE_PM_SAMPLING 0
#endif

#include <string>

#if GAPSCOPE_HAVE_PM_SAMPLING
#include <cstddef>
#include <cstdint>

#include <cuda.h>
#include <cupti_result.h>
#include <cupti_target.h>
// They need what stands before.
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>

namespace gapscope::sampler {

struct PmLibrary {
  decltype(&cuptiProfilerInitialize) initialize = nullptr;
  decltype(&cuptiProfilerDeviceSupported) device_supported = nullptr;
  decltype(&cuptiDeviceGetChipName) chip_name = nullptr;
  decltype(&cuptiProfilerHostInitialize) host_initialize = nullptr;
  decltype(&cuptiProfilerHostDeinitialize) host_deinitialize = nullptr;
  decltype(&cuptiProfilerHostConfigAddMetrics) add_metrics = nullptr;
  decltype(&cuptiProfilerHostGetConfigImageSize) config_size = nullptr;
  decltype(&cuptiProfilerHostGetConfigImage) config_image = nullptr;
  decltype(&cuptiProfilerHostGetNumOfPasses) passes = nullptr;
  decltype(&cuptiProfilerHostEvaluateToGpuValues) evaluate = nullptr;
  decltype(&cuptiPmSamplingGetCounterAvailability) availability = nullptr;
  decltype(&cuptiPmSamplingEnable) enable = nullptr;
  decltype(&cuptiPmSamplingDisable) disable = nullptr;
  decltype(&cuptiPmSamplingSetConfig) set_config = nullptr;
  decltype(&cuptiPmSamplingStart) start = nullptr;
  decltype(&cuptiPmSamplingStop) stop = nullptr;
  decltype(&cuptiPmSamplingDecodeData) decode = nullptr;
  decltype(&cuptiPmSamplingGetCounterDataSize) data_size = nullptr;
  decltype(&cuptiPmSamplingCounterDataImageInitialize) initialize_data = nullptr;
  decltype(&cuptiPmSamplingGetCounterDataInfo) data_info = nullptr;
  decltype(&cuptiPmSamplingCounterDataGetSampleInfo) sample_info = nullptr;
  decltype(&cuptiGetResultString) result_string = nullptr;

  // Empty, or a sentence.
  std::string load();
  // Why something is not possible: for permissions, virtual GPUs and the like in words that say what to do.
  std::string reason(CUptiResult result) const;
};

}  // namespace gapscope::sampler
#endif
