#pragma once
// CUPTI's functions, found when the recorder starts: a program without CUPTI, or with one that PyTorch brought along, is
// recorded or left alone, but never fails to start because of us.
#include <cupti.h>

#include <string>

namespace gapscope::sampler {

struct CuptiLibrary {
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&cuptiActivityRegisterTimestampCallback) register_timestamps = nullptr;
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityDisable) disable = nullptr;
  decltype(&cuptiActivityEnableRuntimeApi) enable_runtime_call = nullptr;
  decltype(&cuptiActivityEnableDriverApi) enable_driver_call = nullptr;
  decltype(&cuptiActivityFlushAll) flush_all = nullptr;
  decltype(&cuptiActivityGetNextRecord) next_record = nullptr;
  decltype(&cuptiActivityGetNumDroppedRecords) dropped = nullptr;
  decltype(&cuptiActivityEnableLatencyTimestamps) latency_timestamps = nullptr;
  decltype(&cuptiSetThreadIdType) set_thread_id_type = nullptr;
  decltype(&cuptiGetCallbackName) callback_name = nullptr;
  decltype(&cuptiGetResultString) result_string = nullptr;
  decltype(&cuptiGetVersion) version = nullptr;
  int (*initialize_nvtx)(void*) = nullptr;  // takes NVTX's exported function table

  // Loads it; empty, or a sentence.
  std::string load();
};

// The library itself; null where there is none.
void* open_cupti();

}  // namespace gapscope::sampler
