#pragma once
// What /proc says about a process of this user.
#include <string>
#include <vector>

#include <sys/types.h>

namespace gapscope::attach {

struct ProcessFacts {
  std::string command;       // its command line; empty: not known
  int rank = -1;             // RANK of its environment; -1: none
  int ranks_here = 0;        // how many ranks of its job are on this machine; 0: not said
  std::string job_address;   // where they meet, which distinguishes two jobs
  std::vector<pid_t> below;  // of one without a rank: its children, and theirs, that have one
};

ProcessFacts look_at_process(pid_t pid);
bool process_lives(pid_t pid);

}  // namespace gapscope::attach
