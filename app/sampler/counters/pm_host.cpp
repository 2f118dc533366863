#include "app/sampler/counters/pm_host.h"

#if GAPSCOPE_HAVE_PM_SAMPLING

namespace gapscope::sampler {

CUptiResult PmHost::open(const char* chip, const std::vector<std::uint8_t>& availability) {
  close();
  CUpti_Profiler_Host_Initialize_Params p{};
  p.structSize = CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE;
  p.profilerType = CUPTI_PROFILER_TYPE_PM_SAMPLING;
  p.pChipName = chip;
  p.pCounterAvailabilityImage = availability.data();
  const CUptiResult result = cupti_.host_initialize(&p);
  if (result == CUPTI_SUCCESS) host_ = p.pHostObject;
  return result;
}

void PmHost::close() {
  if (!host_) return;
  CUpti_Profiler_Host_Deinitialize_Params p{};
  p.structSize = CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE;
  p.pHostObject = host_;
  cupti_.host_deinitialize(&p);
  host_ = nullptr;
}

std::vector<std::uint8_t> PmHost::config_of(const std::vector<const char*>& names) const {
  std::vector<const char*> list = names;  // CUPTI's interface is not const
  CUpti_Profiler_Host_ConfigAddMetrics_Params add{};
  add.structSize = CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE;
  add.pHostObject = host_;
  add.ppMetricNames = list.data();
  add.numMetrics = list.size();
  if (cupti_.add_metrics(&add) != CUPTI_SUCCESS) return {};
  CUpti_Profiler_Host_GetConfigImageSize_Params size{};
  size.structSize = CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE;
  size.pHostObject = host_;
  if (cupti_.config_size(&size) != CUPTI_SUCCESS) return {};
  std::vector<std::uint8_t> image(size.configImageSize);
  CUpti_Profiler_Host_GetConfigImage_Params get{};
  get.structSize = CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE;
  get.pHostObject = host_;
  get.configImageSize = image.size();
  get.pConfigImage = image.data();
  if (cupti_.config_image(&get) != CUPTI_SUCCESS) image.clear();
  return image;
}

// An object collects what is added to it: each question has its own.
int PmHost::passes_of(const char* chip, const std::vector<std::uint8_t>& availability,
                      const std::vector<const char*>& names) const {
  PmHost asked(cupti_);
  if (asked.open(chip, availability) != CUPTI_SUCCESS) return 0;
  std::vector<std::uint8_t> image = asked.config_of(names);
  if (image.empty()) return 0;
  CUpti_Profiler_Host_GetNumOfPasses_Params p{};
  p.structSize = CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE;
  p.configImageSize = image.size();
  p.pConfigImage = image.data();
  return cupti_.passes(&p) == CUPTI_SUCCESS ? static_cast<int>(p.numOfPasses) : 0;
}

CUptiResult PmHost::evaluate(const std::vector<std::uint8_t>& data, std::size_t sample, std::vector<const char*>& names,
                             std::vector<double>& values) const {
  values.resize(names.size());
  CUpti_Profiler_Host_EvaluateToGpuValues_Params p{};
  p.structSize = CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE;
  p.pHostObject = host_;
  p.pCounterDataImage = data.data();
  p.counterDataImageSize = data.size();
  p.rangeIndex = sample;
  p.ppMetricNames = names.data();
  p.numMetrics = names.size();
  p.pMetricValues = values.data();
  return cupti_.evaluate(&p);
}

}  // namespace gapscope::sampler
#endif
