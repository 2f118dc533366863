#pragma once
// The analysis and the diagnosis of one document, on a thread of their own; they end early when it is no longer wanted.
#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "app/jobs/latest_job.h"
#include "core/view/document.h"

namespace gapscope {

class AnalysisRun {
 public:
  explicit AnalysisRun(std::function<void()> wake)
      : job_(
            "analyse the trace", [](const Task& task) { return task.document->diagnose(task.cancel.get()), true; },
            std::move(wake)) {}
  ~AnalysisRun() { cancel(); }
  AnalysisRun(const AnalysisRun&) = delete;
  AnalysisRun& operator=(const AnalysisRun&) = delete;

  // In place of the one before.
  void start(std::shared_ptr<const Document> document) {
    cancel();
    cancelled_ = std::make_shared<std::atomic<bool>>(false);
    job_.ask({std::move(document), cancelled_});
  }
  void cancel() {
    if (cancelled_) *cancelled_ = true;
  }
  // Why it did not come to an end, once.
  std::optional<Error> take_trouble() { return job_.take_trouble(); }
  // Before destruction.
  void request_stop() {
    cancel();
    job_.request_stop();
  }

 private:
  // The document keeps its trace and indexes alive while the thread works on it.
  struct Task {
    std::shared_ptr<const Document> document;
    std::shared_ptr<const std::atomic<bool>> cancel;
  };
  std::shared_ptr<std::atomic<bool>> cancelled_;
  LatestJob<Task, bool> job_;
};

}  // namespace gapscope
