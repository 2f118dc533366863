#include "app/free_later.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace gapscope {
namespace {

constexpr std::chrono::milliseconds kLookAgain{20};  // other owners give no sign when they let go

}  // namespace

FreeLater::FreeLater() : thread_([this](std::stop_token stop) { run(stop); }) {}

void FreeLater::add(std::shared_ptr<const void> thing) {
  if (!thing) return;
  {
    const std::lock_guard lock(mutex_);
    things_.push_back(std::move(thing));
  }
  changed_.notify_one();
}

void FreeLater::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return !things_.empty(); })) {
    std::vector<std::shared_ptr<const void>> mine;
    const auto alone = [](const auto& thing) { return thing.use_count() == 1; };
    const auto rest = std::stable_partition(things_.begin(), things_.end(), [&](const auto& thing) { return !alone(thing); });
    std::move(rest, things_.end(), std::back_inserter(mine));
    things_.erase(rest, things_.end());
    if (mine.empty()) {
      // Not to be woken by what is already there: wait for a new thing, a stop, or a while.
      changed_.wait_for(lock, stop, kLookAgain, [] { return false; });
      continue;
    }
    lock.unlock();
    mine.clear();
    lock.lock();
  }
}

}  // namespace gapscope
