#pragma once
// One kind of question about a document, worked out on a thread of its own by answer(): the newest only. What is not answered
// next to the document: those are DocumentJobs. Another question, cancel() or the end makes the one under way stop early.
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "app/jobs/latest_job.h"

namespace gapscope {

struct Document;

template <class Question>
class DocumentJob {
 public:
  struct Done {
    std::weak_ptr<const Document> document;  // it may no longer be open
    Question question;
    std::shared_ptr<const typename Question::Answer> answer;
  };

  explicit DocumentJob(const std::function<void()>& wake)
      : job_(
            Question::kToDo,
            [](const Task& task) -> Done {
              return {task.document, task.question, answer(*task.document, task.question, task.cancel.get())};
            },
            wake) {}
  ~DocumentJob() { cancel(); }
  DocumentJob(const DocumentJob&) = delete;
  DocumentJob& operator=(const DocumentJob&) = delete;

  void ask(std::shared_ptr<const Document> document, Question question) {
    cancel();
    cancelled_ = std::make_shared<std::atomic<bool>>(false);
    about_ = document;
    job_.ask({std::move(document), std::move(question), cancelled_});
  }
  void cancel() {
    if (cancelled_) *cancelled_ = true;
  }
  // Before destruction, where several are to end at the same time.
  void request_stop() {
    cancel();
    job_.request_stop();
  }

  // The document of the last question; null once it is gone.
  std::shared_ptr<const Document> about() const { return about_.lock(); }
  // Its answer, once; none when it was cancelled.
  std::optional<Done> take() {
    std::optional<Done> done = job_.take();
    return done && done->answer ? std::move(done) : std::nullopt;
  }
  // Or why there is none, once.
  std::optional<Error> take_trouble() { return job_.take_trouble(); }
  bool is_at_work() const { return job_.is_at_work(); }

 private:
  // Keeps the document alive while the thread works on it.
  struct Task {
    std::shared_ptr<const Document> document;
    Question question;
    std::shared_ptr<const std::atomic<bool>> cancel;
  };
  std::shared_ptr<std::atomic<bool>> cancelled_;
  std::weak_ptr<const Document> about_;
  LatestJob<Task, Done> job_;
};

}  // namespace gapscope
