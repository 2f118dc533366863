#pragma once
// A function that runs on its own thread on the newest question only: a question that is overtaken before its turn is
// dropped, and so is the answer to an overtaken one. For reads that follow what the user points at.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/base/parallel.h"
#include "core/base/result.h"

namespace gapscope {

// What a LatestJob does whatever its questions and answers are: they are two dozen, and each would compile all of this anew.
class LatestWork {
 public:
  using Work = std::function<std::shared_ptr<void>()>;

  LatestWork(std::string to_do, std::function<void()> wake);
  ~LatestWork();
  LatestWork(const LatestWork&) = delete;
  LatestWork& operator=(const LatestWork&) = delete;

  void ask(Work work);
  std::shared_ptr<void> take();
  std::optional<Error> take_trouble();
  bool is_at_work() const;
  void request_stop();

 private:
  struct State;
  bool has_thread();

  std::shared_ptr<State> state_;
  std::optional<LooseThread> thread_;
};

template <class Question, class Answer>
class LatestJob {
 public:
  // `work` runs on the job's thread, which begins with the first question; where none is available, in ask(). `wake` is called
  // there after each answer. `to_do` is what it does, as it follows "Not enough memory to ...". Destruction waits for the
  // running one, unless that hangs (LooseThread): what `work` uses belongs to it or to its questions.
  LatestJob(std::string to_do, std::function<Answer(const Question&)> work, std::function<void()> wake)
      : work_(std::make_shared<const std::function<Answer(const Question&)>>(std::move(work))),
        job_(std::move(to_do), std::move(wake)) {}

  void ask(Question question) {
    job_.ask([work = work_, question = std::move(question)]() -> std::shared_ptr<void> {
      return std::make_shared<Answer>((*work)(question));
    });
  }
  // The answer to the newest question, once.
  std::optional<Answer> take() {
    const std::shared_ptr<void> answer = job_.take();
    return answer ? std::optional<Answer>(std::move(*static_cast<Answer*>(answer.get()))) : std::nullopt;
  }
  // Or why there is none, once.
  std::optional<Error> take_trouble() { return job_.take_trouble(); }
  // It was asked, and what came of it has not been taken yet.
  bool is_at_work() const { return job_.is_at_work(); }
  // Before destruction, where several are to end at the same time.
  void request_stop() { job_.request_stop(); }

 private:
  std::shared_ptr<const std::function<Answer(const Question&)>> work_;
  LatestWork job_;
};

}  // namespace gapscope
