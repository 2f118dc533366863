#pragma once
// A function that runs on its own thread on the newest question only: a question that is overtaken before its turn is
// dropped, and so is the answer to an overtaken one. For reads that follow what the user points at.
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "core/base/failure.h"
#include "core/base/huge_pages.h"
#include "core/base/parallel.h"

namespace gapscope {

template <class Question, class Answer>
class LatestJob {
 public:
  // `work` runs on the job's thread, which begins with the first question; where none is to be had, in ask(). `wake` is called
  // there after each answer. `to_do` is what it does, as it follows "Not enough memory to ...". Destruction waits for the
  // running one, unless that hangs (LooseThread): what `work` uses belongs to it or to its questions.
  LatestJob(std::string to_do, std::function<Answer(const Question&)> work, std::function<void()> wake)
      : state_(std::make_shared<State>(std::move(to_do), std::move(work), std::move(wake))) {}
  ~LatestJob() {
    thread_.reset();
    const std::lock_guard lock(state_->mutex);
    state_->wake = nullptr;
  }
  LatestJob(const LatestJob&) = delete;
  LatestJob& operator=(const LatestJob&) = delete;

  void ask(Question question) {
    {
      const std::lock_guard lock(state_->mutex);
      state_->question = std::move(question);
      state_->answer.reset();
      state_->trouble.reset();
    }
    if (has_thread())
      state_->changed.notify_one();
    else
      state_->answer_one();
  }

  // The answer to the newest question, once.
  std::optional<Answer> take() {
    const std::lock_guard lock(state_->mutex);
    return std::exchange(state_->answer, std::nullopt);
  }
  // Or why there is none, once.
  std::optional<Error> take_trouble() {
    const std::lock_guard lock(state_->mutex);
    return std::exchange(state_->trouble, std::nullopt);
  }

  // Before destruction, where several are to end at the same time.
  void request_stop() {
    if (thread_) thread_->request_stop();
  }

 private:
  struct State {
    State(std::string t, std::function<Answer(const Question&)> w, std::function<void()> k)
        : to_do(std::move(t)), work(std::move(w)), wake(std::move(k)) {}
    const std::string to_do;
    const std::function<Answer(const Question&)> work;
    std::mutex mutex;
    std::condition_variable_any changed;
    std::function<void()> wake;  // null once the job is gone
    std::optional<Question> question;
    std::optional<Answer> answer;
    std::optional<Error> trouble;

    void run(const std::stop_token& stop) {
      for (;;) {
        {
          std::unique_lock lock(mutex);
          if (!changed.wait(lock, stop, [this] { return question.has_value(); })) return;
        }
        answer_one();
      }
    }
    void answer_one() {
      const HugePages allowed;
      std::unique_lock lock(mutex);
      std::optional<Question> asked = std::exchange(question, std::nullopt);
      lock.unlock();
      std::optional<Answer> found;
      std::optional<Error> failure;
      try {
        found.emplace(work(*asked));
      } catch (...) {
        failure = current_failure(to_do);
      }
      asked.reset();
      lock.lock();
      if (question) return;
      answer = std::move(found);
      trouble = std::move(failure);
      if (wake) wake();
    }
  };

  bool has_thread() {
    if (thread_) return true;
    try {
      thread_.emplace([state = state_](const std::stop_token& stop) { state->run(stop); }, []() noexcept {});
      return true;
    } catch (...) {
      return false;
    }
  }

  std::shared_ptr<State> state_;
  std::optional<LooseThread> thread_;
};

}  // namespace gapscope
