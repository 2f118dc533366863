#pragma once
// CUPTI's functions, found when the recorder starts: a program without CUPTI, or with one that PyTorch brought along, is
// recorded or left alone, but never fails to start because of us.
#include <cupti.h>

#include <string>

#include "app/sampler/find_function.h"

namespace gapscope::sampler {

// Each function by its name there, and its own here.
#define GAPSCOPE_CUPTI_FUNCTIONS(F)                              \
  F(cuptiActivityRegisterCallbacks, register_callbacks)          \
  F(cuptiActivityRegisterTimestampCallback, register_timestamps) \
  F(cuptiActivityEnable, enable)                                 \
  F(cuptiActivityDisable, disable)                               \
  F(cuptiActivityEnableRuntimeApi, enable_runtime_call)          \
  F(cuptiActivityEnableDriverApi, enable_driver_call)            \
  F(cuptiActivityFlushAll, flush_all)                            \
  F(cuptiActivityGetNextRecord, next_record)                     \
  F(cuptiActivityGetNumDroppedRecords, dropped)                  \
  F(cuptiActivityEnableLatencyTimestamps, latency_timestamps)    \
  F(cuptiSetThreadIdType, set_thread_id_type)                    \
  F(cuptiGetCallbackName, callback_name)                         \
  F(cuptiGetResultString, result_string)                         \
  F(cuptiGetVersion, version)

struct CuptiLibrary {
  GAPSCOPE_CUPTI_FUNCTIONS(GAPSCOPE_FUNCTION_MEMBER)
  int (*initialize_nvtx)(void*) = nullptr;  // takes NVTX's exported function table

  // Loads it; empty, or a sentence.
  std::string load();
};

// The library itself; null where there is none.
void* open_cupti();

}  // namespace gapscope::sampler
