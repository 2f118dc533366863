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
// They need what is before.
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>

#include "app/sampler/find_function.h"

namespace gapscope::sampler {

// Each function by its name there, and its own here.
#define GAPSCOPE_PM_FUNCTIONS(F)                                \
  F(cuptiProfilerInitialize, initialize)                        \
  F(cuptiProfilerDeviceSupported, device_supported)             \
  F(cuptiDeviceGetChipName, chip_name)                          \
  F(cuptiProfilerHostInitialize, host_initialize)               \
  F(cuptiProfilerHostDeinitialize, host_deinitialize)           \
  F(cuptiProfilerHostConfigAddMetrics, add_metrics)             \
  F(cuptiProfilerHostGetConfigImageSize, config_size)           \
  F(cuptiProfilerHostGetConfigImage, config_image)              \
  F(cuptiProfilerHostGetNumOfPasses, passes)                    \
  F(cuptiProfilerHostEvaluateToGpuValues, evaluate)             \
  F(cuptiPmSamplingGetCounterAvailability, availability)        \
  F(cuptiPmSamplingEnable, enable)                              \
  F(cuptiPmSamplingDisable, disable)                            \
  F(cuptiPmSamplingSetConfig, set_config)                       \
  F(cuptiPmSamplingStart, start)                                \
  F(cuptiPmSamplingStop, stop)                                  \
  F(cuptiPmSamplingDecodeData, decode)                          \
  F(cuptiPmSamplingGetCounterDataSize, data_size)               \
  F(cuptiPmSamplingCounterDataImageInitialize, initialize_data) \
  F(cuptiPmSamplingGetCounterDataInfo, data_info)               \
  F(cuptiPmSamplingCounterDataGetSampleInfo, sample_info)       \
  F(cuptiGetResultString, result_string)

struct PmLibrary {
  GAPSCOPE_PM_FUNCTIONS(GAPSCOPE_FUNCTION_MEMBER)

  // Empty, or a sentence.
  std::string load();
  // Why something is not possible: for permissions, virtual GPUs and the like in words that say what to do.
  std::string reason(CUptiResult result) const;
};

}  // namespace gapscope::sampler
#endif
