#pragma once
// What wrote a recording, in the words of people who use it. The table, and how each is known, is core/load/producers.
#include <string_view>

namespace gapscope {

struct Producer {
  std::string_view id;     // for JSON and SQL: "jax"
  std::string_view title;  // "JAX/XLA profiler"
  bool is_pytorch = true;  // advice may name options of PyTorch, or of gapscope record, which makes files of its kind
  // What to do when recording again, behind "Add" or "use", without a full stop: so that GPU work, the host, steps are
  // recorded.
  std::string_view gpu_work, host, steps;
  // Where there is none in the file: a sentence.
  std::string_view no_gpu_work;
  // Where the recording ends before the work does: a sentence.
  std::string_view wait = "When recording again, let the device finish before the profiler stops.";
};

// Also of a trace that was not read from a file.
inline constexpr Producer kPyTorch = {"pytorch",
                                      "PyTorch profiler",
                                      true,
                                      "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]",
                                      "ProfilerActivity.CPU",
                                      "prof.step()",
                                      "No GPU work in this trace: record with activities=[ProfilerActivity.CPU, "
                                      "ProfilerActivity.CUDA].",
                                      "When recording again, let the GPU finish before the profiler stops "
                                      "(torch.cuda.synchronize())."};

}  // namespace gapscope
