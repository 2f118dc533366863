#pragma once
// What limits the recordings of the listed folder: read one after the other, the smallest first, on a thread of their own.
// Used by the session, on the UI thread.
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/jobs/latest_job.h"
#include "core/load/load_trace.h"
#include "ui/app_ui.h"

namespace gapscope {

class FolderSummaries {
 public:
  // `wake` is called on another thread when there is something to poll for.
  explicit FolderSummaries(std::function<void()> wake);

  // Turns to this folder, whose recordings get a summary that is empty until it is there.
  // `states`: as SessionOptions has it.
  void begin(FolderView& folder, const LoadOptions& options, const std::filesystem::path& states);
  // Leaves the machine to others until the next poll(): what is being read is read again then.
  void hold();
  // Takes in what was found of the folder of begin(), and continues.
  void poll(FolderView& folder);
  bool is_at_work() const { return under_way_.has_value(); }
  void request_stop();

 private:
  struct Question {
    std::string path;
    std::uint64_t bytes = 0;
    std::size_t entry = 0;
    LoadOptions options;
    std::filesystem::path states;
    std::shared_ptr<LoadProgress> progress;
  };
  static RunSummary read(const Question& question);

  std::vector<Question> left_;  // the next one is the last
  std::optional<Question> under_way_;
  LatestJob<Question, RunSummary> job_;
};

}  // namespace gapscope
