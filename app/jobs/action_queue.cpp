#include "app/jobs/action_queue.h"

#include <condition_variable>
#include <list>
#include <mutex>
#include <utility>

#include "core/base/failure.h"

namespace gapscope {

struct ActionQueue::State {
  // One of a list, so that it goes from one to the other without memory.
  struct Item {
    std::string to_do;
    Action action;
    Done done{};
  };
  std::mutex mutex;
  std::condition_variable_any changed;
  std::function<void()> wake;  // null once the queue is gone
  std::list<Item> waiting, done;
  bool acts = false;  // on one that is in neither
  std::atomic<bool> cancel{false};

  void run(const std::stop_token& stop) {
    for (;;) {
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, stop, [this] { return !waiting.empty(); });
        if (waiting.empty()) return;
      }
      do_first();
    }
  }

  void do_first() {
    std::unique_lock lock(mutex);
    std::list<Item> item;
    item.splice(item.end(), waiting, waiting.begin());
    acts = true;
    lock.unlock();
    try {
      item.front().done = item.front().action(cancel);
    } catch (...) {
      item.front().done.say = current_failure(item.front().to_do).message;
    }
    item.front().action = nullptr;  // what it held is let go here
    lock.lock();
    acts = false;
    done.splice(done.end(), item);
    if (wake) wake();
  }
};

ActionQueue::ActionQueue(std::function<void()> wake) : state_(std::make_shared<State>()) { state_->wake = std::move(wake); }

ActionQueue::~ActionQueue() {
  request_stop();
  thread_.reset();
  const std::lock_guard lock(state_->mutex);
  state_->wake = nullptr;
}

void ActionQueue::add(std::string to_do, Action action) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->waiting.push_back({std::move(to_do), std::move(action)});
  }
  try {
    if (!thread_) thread_.emplace([state = state_](const std::stop_token& stop) { state->run(stop); }, []() noexcept {});
    state_->changed.notify_one();
  } catch (...) {
    state_->do_first();
  }
}

std::optional<ActionQueue::Done> ActionQueue::take() {
  const std::lock_guard lock(state_->mutex);
  if (state_->done.empty()) return std::nullopt;
  Done first = std::move(state_->done.front().done);
  state_->done.pop_front();
  return first;
}

bool ActionQueue::is_at_work() const {
  const std::lock_guard lock(state_->mutex);
  return state_->acts || !state_->waiting.empty() || !state_->done.empty();
}

void ActionQueue::request_stop() {
  state_->cancel = true;
  if (thread_) thread_->request_stop();
}

}  // namespace gapscope
