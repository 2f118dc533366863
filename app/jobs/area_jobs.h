#pragma once
// What the tabs "Selection" and "Flame" ask for, worked out on threads of its own. A new question, another document or the
// end makes the one under way stop early.
#include <atomic>
#include <functional>
#include <memory>

#include "app/jobs/latest_job.h"
#include "core/view/document.h"
#include "core/view/view_state.h"

namespace gapscope {

// The same for both, without a thread: for whoever may wait. Nothing when cancelled.
std::shared_ptr<const AreaStats> answer_area(const Document& document, const Area& area,
                                             const std::atomic<bool>* cancel = nullptr);
std::shared_ptr<const FlameAnswer> answer_flame(const Document& document, const FlameQuestion& question,
                                                const std::atomic<bool>* cancel = nullptr);

class AreaJobs {
 public:
  explicit AreaJobs(const std::function<void()>& wake);
  ~AreaJobs() { cancel(); }
  AreaJobs(const AreaJobs&) = delete;
  AreaJobs& operator=(const AreaJobs&) = delete;

  void ask(std::shared_ptr<const Document> document, Area area);
  void ask(std::shared_ptr<const Document> document, FlameQuestion question);
  // Puts answers about `shown` into the view; others are dropped.
  void take(const std::shared_ptr<const Document>& shown, ViewState& view);
  void cancel();
  // Of a job that came to no answer: calls say(which, why), once.
  template <class Say>
  void take_troubles(Say say) {
    say(TabJob::area, stats_job_.take_trouble());
    say(TabJob::flame, flame_job_.take_trouble());
  }
  // Before destruction.
  void request_stop();

 private:
  using Flag = std::shared_ptr<std::atomic<bool>>;
  template <class Question>
  struct Task {
    std::shared_ptr<const Document> document;
    Question question;
    Flag cancel;
  };
  template <class Answer>
  struct Done {
    std::weak_ptr<const Document> document;
    std::shared_ptr<const Answer> answer;
  };

  Flag stats_cancelled_, flame_cancelled_;
  LatestJob<Task<Area>, Done<AreaStats>> stats_job_;
  LatestJob<Task<FlameQuestion>, Done<FlameAnswer>> flame_job_;
};

}  // namespace gapscope
