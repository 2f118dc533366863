#pragma once
// The program as most people meet it: one window until it is closed.
#include <string>
#include <vector>

#include "core/trace/stated.h"

namespace gapscope {

struct WindowRun {
  std::vector<std::string> files;  // to open first: a trace, a folder, or several (Session::open_all); none: the start screen
  std::string second;              // to compare it with; empty: nothing
  std::string executable;          // argv[0]'s file, to find the assets next to it
  Stated stated{};                 // of all traces
  std::string state_file;          // see app/state/state_file.h; empty: none
};

// The exit code of the program. Says on stderr why no window could be opened.
int run_window(const WindowRun& run);

}  // namespace gapscope
