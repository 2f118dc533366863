// The functions that CUDA and NVTX call in a library named in CUDA_INJECTION64_PATH and NVTX_INJECTION64_PATH, and those that
// `gapscope record` opens itself.
#include <pthread.h>
#include <signal.h>

#include <cstdlib>
#include <mutex>

#include "app/record/status.h"
#include "app/sampler/counters/describe.h"
#include "app/sampler/devices.h"
#include "app/sampler/recorder.h"

namespace {

using gapscope::RecordingOptions;
using gapscope::sampler::Recorder;

// Never destroyed: other threads may still hand over buffers while the process ends.
Recorder* the_recorder = nullptr;
std::once_flag started;

void stop_recording() {
  if (the_recorder) the_recorder->stop();
}

// CUDA does not survive a fork, and our thread is not there: the child is left alone.
void forget_in_child() {
  if (the_recorder) the_recorder->leave_to_parent();
  the_recorder = nullptr;
}

void on_signal(int signal) {
  if (the_recorder) the_recorder->end_by_signal(signal);
}

// Only where the program would die of it; one that wants to know of a signal decides itself.
void end_well_on(int signal) {
  struct sigaction now {};
  if (sigaction(signal, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) return;
  struct sigaction ours {};
  ours.sa_handler = on_signal;
  sigaction(signal, &ours, nullptr);
}

void start_unguarded() {
  const RecordingOptions options = gapscope::options_from_environment();
  if (options.out.empty()) return;
  auto* recorder = new Recorder(options);
  if (const std::string wrong = recorder->start(); !wrong.empty()) return gapscope::tell_sentence(options.status, wrong);
  the_recorder = recorder;
  std::atexit(stop_recording);
  pthread_atfork(nullptr, nullptr, forget_in_child);
  end_well_on(SIGINT);
  end_well_on(SIGTERM);
}

// We run inside another program: errors here must not affect it.
void start_recording() noexcept {
  try {
    start_unguarded();
  } catch (...) {
    gapscope::tell_plainly(std::getenv(gapscope::kRecordStatus),
                           "There was not enough memory for the recorder: this program is not recorded.");
  }
}

}  // namespace

#define GAPSCOPE_EXPORT extern "C" __attribute__((visibility("default")))

// Called by the CUDA driver from within its initialisation. 1: loaded.
GAPSCOPE_EXPORT int InitializeInjection() noexcept {
  std::call_once(started, start_recording);
  return 1;
}

// For `gapscope record --counters list`, which loads this library itself: a line at a time.
GAPSCOPE_EXPORT void GapscopeDescribeCounters(void (*line)(const char*)) noexcept {
  try {
    for (const std::string& text : gapscope::sampler::describe_all_counters()) line(text.c_str());
  } catch (...) {
    line("There was not enough memory for the list.");
  }
}

// For `gapscope record --counters-only`, which samples the GPUs in its own process: CUPTI in the program is left to a profiler
// there, which takes it over and, like PyTorch's, may tear it down while the program runs.
GAPSCOPE_EXPORT void GapscopeStartCounters() noexcept {
  try {
    const RecordingOptions options = gapscope::options_from_environment();
    if (!gapscope::sampler::start_driver())
      return gapscope::tell_sentence(options.status, "There is no GPU here that CUDA can use: no counters are recorded.");
    auto* recorder = new Recorder(options);
    if (const std::string wrong = recorder->start(); !wrong.empty()) return gapscope::tell_sentence(options.status, wrong);
    the_recorder = recorder;
  } catch (...) {
    gapscope::tell_plainly(std::getenv(gapscope::kRecordStatus), "There was not enough memory to record counters.");
  }
}

GAPSCOPE_EXPORT void GapscopeStopCounters() noexcept { stop_recording(); }

// Called by NVTX before its first range; CUPTI knows what to do with its table. 1: all calls of NVTX go there from now on.
GAPSCOPE_EXPORT int InitializeInjectionNvtx2(void* exported) noexcept {
  std::call_once(started, start_recording);
  return the_recorder ? the_recorder->initialize_nvtx(exported) : 0;
}
