#include "app/window/file_watch.h"

#include <utility>

namespace gapscope {

FileWatch::FileWatch(std::function<void()> wake, std::chrono::milliseconds every) : look_(std::make_shared<Look>()) {
  look_->wake = std::move(wake);
  look_->every = every;
  try {
    thread_.emplace([look = look_](const std::stop_token& stop) { look->run(stop); }, []() noexcept {});
  } catch (...) {
    // That the file changes is then not seen; reloading it by hand still works.
  }
}

FileWatch::~FileWatch() {
  thread_.reset();
  const std::lock_guard lock(look_->mutex);
  look_->wake = nullptr;
}

void FileWatch::request_stop() {
  if (thread_) thread_->request_stop();
}

void FileWatch::watch(std::string path, std::optional<FileStamp> stamp) {
  auto shared = std::make_shared<const std::string>(std::move(path));
  {
    const std::lock_guard lock(look_->mutex);
    look_->path = std::move(shared);
    look_->known = look_->seen = stamp;
    look_->has_changed = false;
  }
  look_->changed.notify_one();
}

bool FileWatch::take_changed() {
  const std::lock_guard lock(look_->mutex);
  return std::exchange(look_->has_changed, false);
}

// Takes no memory.
void FileWatch::Look::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex);
  while (changed.wait(lock, stop, [this] { return known.has_value(); })) {
    changed.wait_for(lock, stop, every, [] { return false; });
    if (stop.stop_requested()) return;
    if (!known) continue;
    const std::shared_ptr<const std::string> asked = path;
    lock.unlock();
    const std::optional<FileStamp> now = stamp_of(*asked);  // may take long on a file system far away
    lock.lock();
    if (asked != path || !known) continue;
    const bool settled = now && now == seen && now != known;
    seen = now;
    if (!settled) continue;
    known = now;
    has_changed = true;
    if (wake) wake();
  }
}

}  // namespace gapscope
