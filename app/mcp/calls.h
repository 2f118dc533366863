#pragma once
// Calls that wait and calls that run, each on a thread of its own, a few at once. Each can be cancelled; at the end all are.
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/parallel.h"

namespace gapscope {

class Calls {
 public:
  static constexpr int kAtOnce = 4;
  static constexpr std::size_t kMostWaiting = 32;
  // Answers for itself, and ends soon when it is asked to stop; no client waits for an answer then. Does not throw.
  using Work = std::function<void(const std::stop_token&)>;

  Calls();
  ~Calls();
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;

  // False where too many wait. Where no thread is available the work is done now.
  bool put(nlohmann::ordered_json id, Work work);
  // Of an id that is not known, or answered by now: nothing.
  void cancel(const nlohmann::ordered_json& id);

 private:
  struct Call {
    nlohmann::ordered_json id;
    Work work;
    std::stop_source stop{};
  };
  void run(const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::shared_ptr<Call>> waiting_;
  std::vector<std::shared_ptr<Call>> running_;
  std::vector<Thread> threads_;  // last: they must stop before the rest goes
};

}  // namespace gapscope
