#pragma once
// SIGINT, SIGTERM and SIGHUP (Ctrl+C, the end of a session, a closed terminal) ask the window to close, so that what it keeps
// is written. A second one, or the window not closing for a while, ends the program at once.
#include <atomic>
#include <csignal>
#include <functional>

#include "core/base/parallel.h"

namespace gapscope {

class QuitSignals {
 public:
  // Before other threads are started: they inherit that these signals are not for them. `wake` is called on a thread of its
  // own when one has come. Those that are ignored (nohup) stay ignored.
  explicit QuitSignals(std::function<void()> wake);
  // If a signal came, the program ends by it here, as it would have.
  ~QuitSignals();
  QuitSignals(const QuitSignals&) = delete;
  QuitSignals& operator=(const QuitSignals&) = delete;

  bool asked() const { return signal_ != 0; }

 private:
  void run();

  std::function<void()> wake_;
  sigset_t ours_{}, before_{};
  std::atomic<int> signal_{0};  // that came
  std::atomic<bool> over_{false};
  Thread thread_;
};

}  // namespace gapscope
