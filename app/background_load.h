#pragma once
// One file on its way to a Document, on a thread of its own. Destroying it cancels the load and waits for its end (100
// ms at most, as load_trace promises), so keep a cancelled one until done() where that would be felt.
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "app/file_watch.h"
#include "core/base/parallel.h"
#include "core/base/result.h"
#include "core/load/load_trace.h"
#include "core/view/document.h"

namespace gapscope {

class BackgroundLoad {
 public:
  using Outcome = Result<std::shared_ptr<const Document>>;

  // `wake` is called on other threads when the load is done or has a part to show. Of `options` the watching is set here.
  BackgroundLoad(std::string path, LoadOptions options, std::function<void()> wake);
  ~BackgroundLoad();
  BackgroundLoad(const BackgroundLoad&) = delete;
  BackgroundLoad& operator=(const BackgroundLoad&) = delete;

  const std::string& path() const { return path_; }
  const LoadProgress& progress() const { return progress_; }
  double seconds() const;  // since it began
  void cancel() { progress_.cancel = true; }
  bool done() const { return done_; }
  // The file's state before it was read. Only when done.
  const std::optional<FileStamp>& stamp() const { return stamp_; }
  // Only when done, and only once.
  Outcome take() { return std::move(outcome_); }
  // The beginning of the file as a document of its own, once each time there is a larger one; else null.
  std::shared_ptr<const Document> take_part();

 private:
  void run();
  Outcome load();

  std::string path_;
  LoadOptions options_;
  std::function<void()> wake_;
  LoadProgress progress_;
  Outcome outcome_{Error{}};
  std::optional<FileStamp> stamp_;
  std::mutex part_mutex_;
  std::shared_ptr<const Document> part_;
  std::atomic<bool> done_{false};
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  Thread thread_;  // last: it uses all of the above
};

}  // namespace gapscope
