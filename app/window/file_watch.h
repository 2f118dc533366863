#pragma once
// Reports when a file on disk is another one than when it was read: looks about once a second, on a thread of its own.
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/base/file_stamp.h"
#include "core/base/parallel.h"

namespace gapscope {

class FileWatch {
 public:
  // `wake` is called on another thread. Where none is available nothing is watched.
  explicit FileWatch(std::function<void()> wake, std::chrono::milliseconds every = std::chrono::seconds(1));
  ~FileWatch();
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;

  // From now on this file, which was read in that state. Without a stamp nothing is watched.
  void watch(std::string path, std::optional<FileStamp> stamp);
  // True once after it became another file and has stayed the same for one look: its writer is done. A file
  // that vanished is none.
  bool take_changed();
  // Before destruction.
  void request_stop();

 private:
  // What the thread uses; it may outlive the watch, where the file system no longer answers.
  struct Look {
    std::chrono::milliseconds every{};
    std::mutex mutex;
    std::condition_variable_any changed;
    std::function<void()> wake;  // null once the waiter is gone
    std::shared_ptr<const std::string> path;
    std::optional<FileStamp> known;
    std::optional<FileStamp> seen;  // at the last look
    bool has_changed = false;

    void run(const std::stop_token& stop);
  };
  std::shared_ptr<Look> look_;
  std::optional<LooseThread> thread_;
};

}  // namespace gapscope
