#pragma once
// What becomes of a recorded program whose `gapscope record` was killed.
#include <string>

#include <sys/types.h>

namespace gapscope {

// Asks (SIGTERM) every process of that session that was started in that run of `gapscope record` to end, whether the program
// that began it still lives or not. One with a session of its own is left: it was meant to outlive whoever started it. Where
// /proc does not say, nothing happens.
void end_run(const std::string& run, pid_t session);

}  // namespace gapscope
