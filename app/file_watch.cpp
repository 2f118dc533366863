#include "app/file_watch.h"

#include <utility>

#include <sys/stat.h>

#include "core/base/time.h"

namespace gapscope {

std::optional<FileStamp> stamp_of(const std::string& path) {
  struct stat info {};
  if (path == "-" || ::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  return FileStamp{info.st_mtim.tv_sec * kNsPerS + info.st_mtim.tv_nsec, static_cast<std::uint64_t>(info.st_size), info.st_ino};
}

FileWatch::FileWatch(std::function<void()> wake, std::chrono::milliseconds every)
    : wake_(std::move(wake)), every_(every), thread_([this](std::stop_token stop) { run(stop); }) {}

void FileWatch::watch(std::string path, std::optional<FileStamp> stamp) {
  {
    const std::lock_guard lock(mutex_);
    path_ = std::move(path);
    known_ = seen_ = stamp;
    has_changed_ = false;
  }
  changed_.notify_one();
}

bool FileWatch::take_changed() {
  const std::lock_guard lock(mutex_);
  return std::exchange(has_changed_, false);
}

void FileWatch::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return known_.has_value(); })) {
    changed_.wait_for(lock, stop, every_, [] { return false; });
    if (stop.stop_requested()) return;
    if (!known_) continue;
    const std::string path = path_;
    lock.unlock();
    const std::optional<FileStamp> now = stamp_of(path);  // may take long on a file system far away
    lock.lock();
    if (path != path_ || !known_) continue;
    const bool settled = now && now == seen_ && now != known_;
    seen_ = now;
    if (!settled) continue;
    known_ = now;
    has_changed_ = true;
    lock.unlock();
    wake_();
    lock.lock();
  }
}

}  // namespace gapscope
