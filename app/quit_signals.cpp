#include "app/quit_signals.h"

#include <ctime>
#include <initializer_list>

namespace gapscope {
namespace {

constexpr timespec kPatience{10, 0};  // for a window that closes: writing what it keeps may take a moment

}  // namespace

QuitSignals::QuitSignals(std::function<void()> wake) : wake_(std::move(wake)) {
  sigemptyset(&ours_);
  sigaddset(&ours_, SIGTERM);  // with which the destructor wakes the thread
  for (const int signal : {SIGINT, SIGHUP}) {
    struct sigaction now {};
    if (::sigaction(signal, nullptr, &now) == 0 && ((now.sa_flags & SA_SIGINFO) != 0 || now.sa_handler != SIG_IGN))
      sigaddset(&ours_, signal);
  }
  ::pthread_sigmask(SIG_BLOCK, &ours_, &before_);
  try {
    thread_ = Thread([this] { run(); }, []() noexcept {});
  } catch (...) {
    // No thread is to be had: a signal ends the program at once, as it would without us.
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
}

QuitSignals::~QuitSignals() {
  over_ = true;
  if (thread_.joinable()) {
    ::pthread_kill(thread_.native_handle(), SIGTERM);
    thread_.join();
  }
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  if (signal_ != 0) ::raise(signal_);
}

void QuitSignals::run() {
  int first = -1;
  while (first < 0) first = ::sigwaitinfo(&ours_, nullptr);  // being stopped and going on interrupts it
  if (over_) return;
  signal_ = first;
  wake_();
  ::sigtimedwait(&ours_, nullptr, &kPatience);
  if (over_) return;
  ::pthread_sigmask(SIG_UNBLOCK, &ours_, nullptr);
  ::raise(first);
}

}  // namespace gapscope
