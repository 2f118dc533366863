#pragma once
// A function that runs on its own thread on the newest question only: a question that is overtaken before its turn is
// dropped, and so is the answer to an overtaken one. For reads that follow what the user points at.
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include "core/base/parallel.h"

namespace gapscope {

template <class Question, class Answer>
class LatestJob {
 public:
  // `work` runs on the job's thread; `wake` is called there after each answer. Destruction waits for the running one.
  LatestJob(std::function<Answer(const Question&)> work, std::function<void()> wake)
      : work_(std::move(work)), wake_(std::move(wake)), thread_([this](std::stop_token stop) { run(stop); }) {}

  void ask(Question question) {
    {
      const std::lock_guard lock(mutex_);
      question_ = std::move(question);
      answer_.reset();
    }
    changed_.notify_one();
  }

  // The answer to the newest question, once.
  std::optional<Answer> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(answer_, std::nullopt);
  }

 private:
  void run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [this] { return question_.has_value(); })) {
      const Question question = *std::exchange(question_, std::nullopt);
      lock.unlock();
      Answer answer = work_(question);
      lock.lock();
      if (question_) continue;
      answer_ = std::move(answer);
      lock.unlock();
      wake_();
      lock.lock();
    }
  }

  std::function<Answer(const Question&)> work_;
  std::function<void()> wake_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<Question> question_;
  std::optional<Answer> answer_;
  Thread thread_;  // last: it must stop before the rest goes
};

}  // namespace gapscope
