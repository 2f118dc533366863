#include "app/mcp/calls.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace gapscope {

Calls::Calls() {
  try {
    for (int i = 0; i < kAtOnce; ++i)
      threads_.emplace_back([this](const std::stop_token& stop) { run(stop); }, []() noexcept {});
  } catch (const std::system_error&) {
    // As many as there are; without any, put() does the work.
  }
}

Calls::~Calls() {
  std::deque<std::shared_ptr<Call>> dropped;
  const std::lock_guard lock(mutex_);
  dropped.swap(waiting_);
  for (const auto& call : running_) call->stop.request_stop();
  for (Thread& thread : threads_) thread.request_stop();
}

bool Calls::put(nlohmann::ordered_json id, Work work) {
  auto call = std::make_shared<Call>(Call{std::move(id), std::move(work)});
  if (threads_.empty()) {
    call->work(call->stop.get_token());
    return true;
  }
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() == kMostWaiting) return false;
    waiting_.push_back(std::move(call));
  }
  changed_.notify_one();
  return true;
}

void Calls::cancel(const nlohmann::ordered_json& id) {
  std::vector<std::shared_ptr<Call>> dropped;  // let go of when nothing is locked: what it holds may write
  const std::lock_guard lock(mutex_);
  const auto gone = std::stable_partition(waiting_.begin(), waiting_.end(), [&](const auto& call) { return call->id != id; });
  std::move(gone, waiting_.end(), std::back_inserter(dropped));
  waiting_.erase(gone, waiting_.end());
  for (const auto& call : running_)
    if (call->id == id) call->stop.request_stop();
}

void Calls::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return !waiting_.empty(); }) && !stop.stop_requested()) {
    std::shared_ptr<Call> call = std::move(waiting_.front());
    waiting_.pop_front();
    running_.push_back(call);
    lock.unlock();
    call->work(call->stop.get_token());
    lock.lock();
    std::erase(running_, call);
    lock.unlock();
    call.reset();
    lock.lock();
  }
}

}  // namespace gapscope
