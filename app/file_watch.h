#pragma once
// Tells when a file on disk is another one than when it was read: looks about once a second, on a thread of its own.
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "core/base/parallel.h"

namespace gapscope {

// What tells two states of a file apart.
struct FileStamp {
  std::int64_t modified_ns = 0;
  std::uint64_t bytes = 0;
  std::uint64_t inode = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};
// None where there is no such regular file.
std::optional<FileStamp> stamp_of(const std::string& path);

class FileWatch {
 public:
  explicit FileWatch(std::function<void()> wake, std::chrono::milliseconds every = std::chrono::seconds(1));

  // From now on this file, which was read in that state. Without a stamp nothing is watched.
  void watch(std::string path, std::optional<FileStamp> stamp);
  // True once after it became another file and has stayed the same for one look: whoever writes it has done so. A file
  // that vanished is none.
  bool take_changed();

 private:
  void run(const std::stop_token& stop);

  std::function<void()> wake_;
  std::chrono::milliseconds every_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::string path_;
  std::optional<FileStamp> known_;
  std::optional<FileStamp> seen_;  // at the last look
  bool has_changed_ = false;
  Thread thread_;  // last: it must stop before the rest goes
};

}  // namespace gapscope
