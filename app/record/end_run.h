#pragma once
// What becomes of a program that Gapscope started and was killed over.
#include <csignal>
#include <string>

#include <sys/types.h>

namespace gapscope {

// Sends `signal`, which asks to end, to every process of that session that was started with this assignment ("NAME=value") in
// its environment, whether the program that began it still lives or not; false where there is none. One with a session of its
// own is left: it was meant to outlive the program that started it. Where /proc does not say, nothing happens.
bool end_run(const std::string& assignment, pid_t session, int signal = SIGTERM);

}  // namespace gapscope
