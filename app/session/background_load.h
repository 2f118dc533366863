#pragma once
// One file on its way to a Document, on a thread of its own; of a folder of ranks, or of several files, the first. Destroying
// it cancels the load and waits for its end (100 ms at most, as load_trace promises), so keep a cancelled one until done()
// where that would be felt. One that hangs in a file system which no longer answers is left behind.
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/window/file_watch.h"
#include "core/base/parallel.h"
#include "core/base/result.h"
#include "core/load/load_trace.h"
#include "core/snapshot/opened_snapshot.h"

namespace gapscope {

struct Document;

class BackgroundLoad {
 public:
  using Outcome = Result<std::shared_ptr<const Document>>;

  // `wake` is called on other threads when the load is done or has a part to show. Of `options` the watching is set here.
  // If no thread can be created, the caller loads the file.
  // `states`: where what was stated of the trace is saved; empty: nowhere. `others`: files that are opened with it. `capture`:
  // of its graphs, as load_captured_trace() takes it.
  BackgroundLoad(std::string path, LoadOptions options, std::function<void()> wake, std::filesystem::path states,
                 std::vector<std::string> others = {}, std::string capture = {});
  ~BackgroundLoad();
  BackgroundLoad(const BackgroundLoad&) = delete;
  BackgroundLoad& operator=(const BackgroundLoad&) = delete;

  const std::string& path() const { return work_->path; }
  const LoadProgress& progress() const { return work_->progress; }
  double seconds() const;  // since it began
  void cancel();
  bool done() const { return work_->done; }
  // The ranks that were asked for in place of a file, as a folder or as files; else empty. Only when done.
  const std::vector<std::string>& run() const { return work_->ranks; }
  // The folder, where it holds recordings that are no ranks of one run; the outcome then is an Error that says so. Only when
  // done.
  const std::string& listed() const { return work_->listed; }
  // Of two files that are no ranks of a run the second, which is to be compared with the first; once, as soon as that is known.
  std::string take_second();
  // The file's state before it was read. Only when done.
  const std::optional<FileStamp>& stamp() const { return work_->stamp; }
  // Only when done, and only once. An Error: the sentence for the window.
  Outcome take() { return std::move(work_->outcome); }
  // A memory snapshot, where that is what the file holds: then there is no document. Only when done. Of two snapshots the
  // second one is shown, and compared with the first.
  const std::shared_ptr<const OpenedSnapshot>& snapshot() const { return work_->snapshot; }
  // The beginning of the file as a document of its own, once each time there is a larger one; else null.
  std::shared_ptr<const Document> take_part();

 private:
  // What the thread uses; it may outlive the load.
  struct Work {
    std::string path;
    LoadOptions options;
    LoadProgress progress;
    Outcome outcome{Error{}};
    std::filesystem::path states;
    std::vector<std::string> others;
    std::string capture;
    std::vector<std::string> ranks;
    std::string listed;
    std::optional<FileStamp> stamp;
    std::shared_ptr<const OpenedSnapshot> snapshot;
    std::mutex mutex;            // guards what follows
    std::function<void()> wake;  // null once the waiter is gone
    std::shared_ptr<const Document> part;
    std::string second;
    std::atomic<bool> done{false};

    void run();
    void fail() noexcept;
    void finish() noexcept;
    Outcome load();
    Outcome load_snapshot();
    std::optional<Error> enter_folder();
    void judge_others();
  };
  std::shared_ptr<Work> work_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::optional<LooseThread> thread_;
};

}  // namespace gapscope
