#pragma once
// A DocumentJob for each kind of Question. Used on the UI thread; answers are put next to the document that they are about.
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include "app/jobs/document_job.h"
#include "core/view/answers.h"

namespace gapscope {

template <class>
class JobsFor;
template <class... Qs>
class JobsFor<std::variant<Qs...>> {
 public:
  explicit JobsFor(const std::function<void()>& wake) : jobs_(of<Qs>(wake)...) {}

  void ask(const std::shared_ptr<const Document>& document, Question question) {
    std::visit(
        [&]<class Q>(Q& q) {
          Asked<Q>& at = asked<Q>(*document);
          try {
            at.trouble.clear();
            at.question = q;
            std::get<DocumentJob<Q>>(jobs_).ask(document, std::move(q));
          } catch (...) {
            at.forget();  // so that it is asked for again
            throw;
          }
        },
        question);
  }
  // Puts what is there in its place. Gives the sentence of what came to no answer; empty: nothing went wrong.
  std::string take() {
    std::string trouble;
    (take_from(std::get<DocumentJob<Qs>>(jobs_), trouble), ...);
    return trouble;
  }
  void cancel() { (std::get<DocumentJob<Qs>>(jobs_).cancel(), ...); }
  // Before destruction, where several are to end at the same time.
  void request_stop() { (std::get<DocumentJob<Qs>>(jobs_).request_stop(), ...); }

 private:
  template <class>
  static const std::function<void()>& of(const std::function<void()>& wake) {
    return wake;
  }
  template <class Q>
  static void take_from(DocumentJob<Q>& job, std::string& trouble) {
    if (auto done = job.take()) {
      if (const auto document = done->document.lock()) asked<Q>(*document).answer = std::move(done->answer);
    }
    const std::optional<Error> why = job.take_trouble();
    if (!why) return;
    trouble = why->message;
    if (const auto document = job.about()) asked<Q>(*document).trouble = why->message;
  }

  std::tuple<DocumentJob<Qs>...> jobs_;
};

using DocumentJobs = JobsFor<Question>;

}  // namespace gapscope
