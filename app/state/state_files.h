#pragma once
// The small JSON files that the program keeps for itself between two runs, and that a person may edit. What is in one is
// never lost: one that cannot be read is moved aside before another takes its name, and what waits is written.
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/base/parallel.h"
#include "core/base/result.h"

namespace gapscope {

// The JSON object in `file`; nullopt: there is no such file. The Error is the rest of a sentence: "are not a JSON object".
// Never waits: of what is no file (a FIFO) nothing is read. A character device (/dev/null) is as if there were none.
Result<std::optional<nlohmann::ordered_json>> read_state(const std::filesystem::path& file);

// Gives `file` the first free name of "x.json.broken-1", "x.json.broken-2", ... and returns it; the Error: it cannot be moved.
Result<std::string> move_aside(const std::filesystem::path& file);

// Held while a file in `folder` is read, changed and written, by one program at a time. One that holds it for long is not
// waited for: a writer then writes whole.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int fd_;
};

// What came of writing one.
struct StateWritten {
  bool done = true;   // false: it is to be tried again
  std::string say{};  // what the person should know; empty: nothing
};

// Writes `text` into `file`, under a folder that is made where there is none. `what` begins the sentence: "the settings".
StateWritten write_state(const std::filesystem::path& file, const std::string& text, const char* what);

// Writes state files on a thread of its own a little after the last change, and what is left at the end. Of each file the
// newest change counts; none is lost to a change of another file. What fails stays and is tried again with the next change, and
// at the end.
class StateWriter {
 public:
  using Write = std::function<StateWritten()>;

  explicit StateWriter(std::chrono::milliseconds rest = std::chrono::seconds(2));
  // A failure that can no longer be shown is a sentence on stderr.
  ~StateWriter();
  StateWriter(const StateWriter&) = delete;
  StateWriter& operator=(const StateWriter&) = delete;

  // `write` is called on the writer's thread, in place of one that waits for the same file.
  void put(const std::filesystem::path& file, Write write);
  // Writes at once what has not rested yet.
  void flush();
  // What the person should know, once.
  std::string take_news();

 private:
  struct Waiting {
    std::filesystem::path file;
    Write write;
  };
  void run(const std::stop_token& stop);
  static std::vector<Waiting> write_all(std::vector<Waiting> waiting, std::string& news);

  std::chrono::milliseconds rest_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<Waiting> waiting_;  // one a file
  bool has_fresh_ = false;        // among them is more than what has failed
  bool at_once_ = false;
  std::chrono::steady_clock::time_point due_;
  std::string news_;
  Thread thread_;  // last: it must stop before the rest goes
};

}  // namespace gapscope
