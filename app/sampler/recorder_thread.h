#pragma once
// For threads of ours inside the recorded program.
#include <pthread.h>
#include <signal.h>

namespace gapscope::sampler {

// The program's signals are its own; those that an instruction of this thread raises are not held back.
inline void leave_signals_to_the_program() {
  sigset_t all;
  sigfillset(&all);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigdelset(&all, own);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

}  // namespace gapscope::sampler
