#include "app/jobs/document_jobs.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "app/jobs/latest_job.h"
#include "core/view/document.h"

namespace gapscope {

struct DocumentJobs::Job {
  // Keeps the document alive while the thread works on it.
  struct Task {
    std::shared_ptr<const Document> document;
    AnyQuestion question;
    std::shared_ptr<const std::atomic<bool>> cancel;
  };
  struct Done {
    std::weak_ptr<const Document> document;  // it may no longer be open
    AnyQuestion question;
    std::shared_ptr<const void> answer;  // null: cancelled
  };
  static Done work_out(const Task& task) {
    return {task.document, task.question, task.question.answer(*task.document, task.cancel.get())};
  }

  Job(const AnyQuestion& question, const std::function<void()>& wake)
      : last(question), work(question.to_do(), &work_out, wake) {}
  ~Job() { cancel(); }
  void cancel() {
    if (cancelled) *cancelled = true;
  }

  AnyQuestion last;
  std::shared_ptr<std::atomic<bool>> cancelled;
  std::weak_ptr<const Document> about;  // the last
  LatestJob<Task, Done> work;
};

DocumentJobs::DocumentJobs(std::function<void()> wake) : wake_(std::move(wake)) {}
DocumentJobs::~DocumentJobs() = default;

void DocumentJobs::ask(const std::shared_ptr<const Document>& document, const AnyQuestion& question) {
  AskedOfAKind& at = question.asked(*document);
  try {
    at.set_question(question.question());
    std::unique_ptr<Job>& job = jobs_[question.kind()];
    if (!job) job = std::make_unique<Job>(question, wake_);
    job->cancel();
    job->cancelled = std::make_shared<std::atomic<bool>>(false);
    job->about = document;
    job->last = question;
    job->work.ask({document, question, job->cancelled});
  } catch (...) {
    at.forget();  // so that it is asked for again
    throw;
  }
}

std::string DocumentJobs::take() {
  std::string trouble;
  for (const auto& [kind, job] : jobs_) {
    if (!job) continue;
    if (const std::optional<Job::Done> done = job->work.take(); done && done->answer) {
      if (const auto document = done->document.lock()) done->question.asked(*document).set_answer(done->answer);
    }
    const std::optional<Error> why = job->work.take_trouble();
    if (!why) continue;
    trouble = why->message;
    if (const auto document = job->about.lock()) job->last.asked(*document).trouble = why->message;
  }
  return trouble;
}

bool DocumentJobs::is_at_work() const {
  return std::any_of(jobs_.begin(), jobs_.end(), [](const auto& job) { return job.second && job.second->work.is_at_work(); });
}

void DocumentJobs::cancel() {
  for (const auto& [kind, job] : jobs_) {
    if (job) job->cancel();
  }
}

void DocumentJobs::request_stop() {
  for (const auto& [kind, job] : jobs_) {
    if (!job) continue;
    job->cancel();
    job->work.request_stop();
  }
}

}  // namespace gapscope
