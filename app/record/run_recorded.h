#pragma once
// Runs a program with the recorder inside, as if it ran alone: its output, its signals and its exit code are its own.
#include <string>
#include <vector>

#include "app/record/recording.h"
#include "app/record/status.h"
#include "core/base/result.h"

namespace gapscope {

struct Recorded {
  int exit_code = 0;                  // 128 + the signal that ended it; where it could not be started 127 or 126, as shells say
  std::string not_started;            // why it could not be started
  std::vector<RecordedTrace> traces;  // of each of its processes that used CUDA and has ended, by rank
  bool still_recording = false;       // a process of the program lives on
  std::vector<std::string> sentences;  // what went wrong with the recording, or what one should know of it
};

// The program is asked to end (SIGTERM) where this one is killed. The Error: nothing can be run. `library` is the recorder's.
Result<Recorded> run_recorded(const std::vector<std::string>& command, RecordingOptions options, const std::string& library);

// The recorder next to the executable, or where it is installed; empty where this build has none.
std::string find_recorder(const std::string& executable);

}  // namespace gapscope
