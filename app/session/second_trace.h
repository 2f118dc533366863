#pragma once
// The trace to compare the open one with: it loads, is analysed and compared on threads of its own. Used by the session, on
// the UI thread.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/jobs/document_job.h"
#include "app/jobs/document_jobs.h"
#include "app/session/background_load.h"
#include "app/session/free_later.h"
#include "app/session/load_watch.h"
#include "core/view/compare/compare_model.h"
#include "core/view/view_state.h"

namespace gapscope {

class SecondTrace {
 public:
  SecondTrace(std::function<void()> wake, FreeLater& free_later);
  ~SecondTrace();
  SecondTrace(const SecondTrace&) = delete;
  SecondTrace& operator=(const SecondTrace&) = delete;

  // Starts loading; the one that is there stays until the new one is. An earlier load is cancelled.
  // `states`: as SessionOptions has it.
  void open(std::string path, const LoadOptions& options, const std::filesystem::path& states);
  // Before destruction.
  void request_stop();
  // Ends a load under way; without one, lets go of the document.
  void close();
  // Lets go of the document; a load under way continues.
  void let_go();

  const std::shared_ptr<const Document>& document() const { return document_; }
  bool is_loading() const { return load_ != nullptr; }
  bool is_at_work() const { return load_ || jobs_->is_at_work() || comparison_job_.is_at_work(); }
  // How far that is; null while nothing loads. Valid until the next call.
  const LoadingView* loading() { return load_ ? &watch_.of(*load_) : nullptr; }

  // What came of a load since the last call: the path of what is open now, or a sentence.
  struct News {
    std::string opened;
    std::string trouble;
    std::optional<FileStamp> stamp{};  // of the file just before it was read
  };
  std::optional<News> poll();

  // The first trace becomes the second one and the other way round, each with what is being worked out about it.
  void change_places(std::shared_ptr<const Document>& first, std::unique_ptr<DocumentJobs>& jobs);

  DocumentJobs& jobs() { return *jobs_; }
  // Compares `first` with the document, in place of an earlier comparison.
  void compare(std::shared_ptr<const Document> first, const CompareOptions& options);
  // Puts an answer about these two into the view, or why there is none; gives that sentence, or an empty one.
  std::string take_comparison(const std::shared_ptr<const Document>& first, WindowState& window);

 private:
  std::function<void()> wake_;
  FreeLater& free_later_;
  std::shared_ptr<const Document> document_;
  std::unique_ptr<DocumentJobs> jobs_;
  std::shared_ptr<BackgroundLoad> load_;                 // shared, so that letting go of it takes no memory
  std::vector<std::shared_ptr<BackgroundLoad>> ending_;  // cancelled ones on their way out
  LoadWatch watch_;
  DocumentJob<ComparisonQuestion> comparison_job_;
};

}  // namespace gapscope
