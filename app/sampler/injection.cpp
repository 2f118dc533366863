// The doors that CUDA and NVTX open for a library named in CUDA_INJECTION64_PATH and NVTX_INJECTION64_PATH.
#include <pthread.h>
#include <signal.h>

#include <cstdlib>
#include <fstream>
#include <mutex>

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
void forget_in_child() { the_recorder = nullptr; }

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

void start_recording() {
  const RecordingOptions options = gapscope::options_from_environment();
  if (options.out.empty()) return;
  auto* recorder = new Recorder(options);
  if (const std::string wrong = recorder->start(); !wrong.empty()) {
    std::ofstream(options.status, std::ios::app) << wrong << '\n';
    return;
  }
  the_recorder = recorder;
  std::atexit(stop_recording);
  pthread_atfork(nullptr, nullptr, forget_in_child);
  end_well_on(SIGINT);
  end_well_on(SIGTERM);
}

}  // namespace

#define GAPSCOPE_EXPORT extern "C" __attribute__((visibility("default")))

// Called by the CUDA driver from within its initialisation. 1: loaded.
GAPSCOPE_EXPORT int InitializeInjection() {
  std::call_once(started, start_recording);
  return 1;
}

// Called by NVTX before its first range; CUPTI knows what to do with its table. 1: all calls of NVTX go there from now on.
GAPSCOPE_EXPORT int InitializeInjectionNvtx2(void* exported) {
  std::call_once(started, start_recording);
  return the_recorder ? the_recorder->initialize_nvtx(exported) : 0;
}
