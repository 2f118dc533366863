#pragma once
// `gapscope attach`: a trace of a PyTorch program that is already running.
#include <cstdint>
#include <string>

#include "app/attach/capture.h"

namespace gapscope {

struct AttachOptions {
  attach::Capture capture;
  std::int64_t pid = 0;  // of the program or a parent of it; 0: not said
  std::int64_t job = 0;  // of Slurm; 0: not said
  bool all = false, list = false, no_open = false;
  std::string folder;        // empty: "attach-" and the time
  Ns wait = 0;               // for a program to come; 0: until Ctrl+C
  Ns every = 0;              // more than 0: again and again
  std::uint64_t max_mb = 0;  // of all recordings of --every together; 0: no bound
  double slower = 0;         // more than 0: keep recordings whose median step is so many times the one of those before
  std::string executable;    // ours
};

// kOk where every trace that was asked for has come.
int attach_to_programs(const AttachOptions& options);

}  // namespace gapscope
