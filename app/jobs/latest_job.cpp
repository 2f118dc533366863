#include "app/jobs/latest_job.h"

#include <condition_variable>
#include <mutex>

#include "core/base/failure.h"
#include "core/base/huge_pages.h"

namespace gapscope {

struct LatestWork::State {
  State(std::string t, std::function<void()> w) : to_do(std::move(t)), wake(std::move(w)) {}
  const std::string to_do;
  std::mutex mutex;
  std::condition_variable_any changed;
  std::function<void()> wake;  // null once the job is gone
  Work question;               // null: none waits
  bool answers = false;        // one that waits no longer
  std::shared_ptr<void> answer;
  std::optional<Error> trouble;

  void run(const std::stop_token& stop) {
    for (;;) {
      {
        std::unique_lock lock(mutex);
        if (!changed.wait(lock, stop, [this] { return question != nullptr; })) return;
      }
      answer_one();
    }
  }
  void answer_one() {
    const HugePages allowed;
    std::shared_ptr<void> found;  // let go after the lock
    std::optional<Error> failure;
    std::unique_lock lock(mutex);
    Work asked = std::exchange(question, nullptr);
    answers = true;
    lock.unlock();
    try {
      found = asked();
    } catch (...) {
      failure = current_failure(to_do);
    }
    asked = nullptr;
    lock.lock();
    answers = false;
    if (question) return;
    answer = std::move(found);
    trouble = std::move(failure);
    if (wake) wake();
  }
};

LatestWork::LatestWork(std::string to_do, std::function<void()> wake)
    : state_(std::make_shared<State>(std::move(to_do), std::move(wake))) {}

LatestWork::~LatestWork() {
  thread_.reset();
  const std::lock_guard lock(state_->mutex);
  state_->wake = nullptr;
}

void LatestWork::ask(Work work) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->question = std::move(work);
    state_->answer.reset();
    state_->trouble.reset();
  }
  if (has_thread())
    state_->changed.notify_one();
  else
    state_->answer_one();
}

std::shared_ptr<void> LatestWork::take() {
  const std::lock_guard lock(state_->mutex);
  return std::exchange(state_->answer, nullptr);
}

std::optional<Error> LatestWork::take_trouble() {
  const std::lock_guard lock(state_->mutex);
  return std::exchange(state_->trouble, std::nullopt);
}

bool LatestWork::is_at_work() const {
  const std::lock_guard lock(state_->mutex);
  return state_->question || state_->answers || state_->answer || state_->trouble;
}

void LatestWork::request_stop() {
  if (thread_) thread_->request_stop();
}

bool LatestWork::has_thread() {
  if (thread_) return true;
  try {
    thread_.emplace([state = state_](const std::stop_token& stop) { state->run(stop); }, []() noexcept {});
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace gapscope
