#include "app/session/free_later.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

namespace gapscope {
namespace {

constexpr std::chrono::milliseconds kLookAgain{20};  // other owners give no sign when they let go

}  // namespace

FreeLater::FreeLater() {
  try {
    thread_ = Thread([this](const std::stop_token& stop) { run(stop); }, []() noexcept {});
  } catch (...) {
    // No thread is available: what is added is let go of at once.
  }
}

void FreeLater::add(std::shared_ptr<const void> thing) {
  if (!thing || !thread_.joinable()) return;
  try {
    const std::lock_guard lock(mutex_);
    things_.push_back(std::move(thing));
  } catch (const std::bad_alloc&) {
    return;  // it is freed here, then
  }
  changed_.notify_one();
}

// Takes no memory: what it does matters most when there is none.
void FreeLater::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return !things_.empty(); })) {
    const auto alone = std::find_if(things_.begin(), things_.end(), [](const auto& thing) { return thing.use_count() == 1; });
    if (alone == things_.end()) {
      // Not to be woken by what is already there: wait for a new thing, a stop, or a while.
      changed_.wait_for(lock, stop, kLookAgain, [] { return false; });
      continue;
    }
    std::shared_ptr<const void> mine = std::move(*alone);
    things_.erase(alone);
    lock.unlock();
    mine.reset();
    lock.lock();
  }
}

}  // namespace gapscope
