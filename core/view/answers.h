#pragma once
// What is asked about a document that takes longer than a frame, and what came of it: it is next to the document for as long
// as that is open. Read and written on the UI thread. A kind of question is a type Q with
//   using Answer = ...;                     what a panel shows
//   static constexpr const char* kToDo;     what working it out does, as it follows "Not enough memory to ..."
// an operator==, and in namespace gapscope, next to it, what a thread of its own calls; null when cancelled:
//   std::shared_ptr<const Q::Answer> answer(const Document&, const Q&, const std::atomic<bool>* cancel);
// It is carried by the request Ask (ui/requests.h) and worked out by DocumentJobs (app/jobs), which know no kind by name.
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <typeindex>
#include <utility>

namespace gapscope {

struct Document;

// The facts and what the rules find: the document itself holds both, once they are there.
struct AnalysisQuestion {
  struct Answer {};
  static constexpr const char* kToDo = "analyse the trace";
  friend bool operator==(const AnalysisQuestion&, const AnalysisQuestion&) = default;
};
std::shared_ptr<const AnalysisQuestion::Answer> answer(const Document& document, const AnalysisQuestion& question,
                                                       const std::atomic<bool>* cancel);

// What was asked and what came of it, of whatever kind.
struct AskedOfAKind {
  virtual ~AskedOfAKind() = default;
  std::string trouble;  // why there will be no answer: a sentence; empty: nothing went wrong
  // It came to no answer; it may be asked again.
  virtual void forget() = 0;
  virtual void set_question(const void* q) = 0;
  virtual void set_answer(std::shared_ptr<const void> a) = 0;
};

template <class Q>
struct Asked : AskedOfAKind {
  std::optional<Q> question;                         // the last
  std::shared_ptr<const typename Q::Answer> answer;  // to it or, until that is there, to one before

  void forget() override {
    question.reset();
    trouble.clear();
  }
  void set_question(const void* q) override {
    trouble.clear();
    question = *static_cast<const Q*>(q);
  }
  void set_answer(std::shared_ptr<const void> a) override {
    answer = std::static_pointer_cast<const typename Q::Answer>(std::move(a));
  }
};

class Answers {
 public:
  template <class Q>
  Asked<Q>& to() {
    std::unique_ptr<AskedOfAKind>& at = asked_[typeid(Q)];
    if (!at) at = std::make_unique<Asked<Q>>();
    return static_cast<Asked<Q>&>(*at);
  }

 private:
  std::map<std::type_index, std::unique_ptr<AskedOfAKind>> asked_;
};
Answers& answers_of(const Document& document);

template <class Q>
Asked<Q>& asked(const Document& document) {
  return answers_of(document).to<Q>();
}
// The newest answer that is there; null before the first.
template <class Q>
const std::shared_ptr<const typename Q::Answer>& answer_to(const Document& document) {
  return asked<Q>(document).answer;
}

namespace detail {
template <class Q>
std::shared_ptr<const void> worked_out(const Document& document, const void* question, const std::atomic<bool>* cancel) {
  return answer(document, *static_cast<const Q*>(question), cancel);
}
template <class Q>
AskedOfAKind& asked_of(const Document& document) {
  return asked<Q>(document);
}
}  // namespace detail

// A question of any kind, for who carries it to the thread that works it out.
class AnyQuestion {
 public:
  template <class Q>
  requires(!std::is_same_v<Q, AnyQuestion>) AnyQuestion(Q question)
      : kind_(&kKind<Q>), question_(std::make_shared<const Q>(std::move(question))) {}

  // Null: it is of another kind.
  template <class Q>
  const Q* as() const {
    return kind_ == &kKind<Q> ? static_cast<const Q*>(question_.get()) : nullptr;
  }
  const char* to_do() const { return kind_->to_do; }
  AskedOfAKind& asked(const Document& document) const { return kind_->asked(document); }
  // Null when cancelled.
  std::shared_ptr<const void> answer(const Document& document, const std::atomic<bool>* cancel) const {
    return kind_->answer(document, question_.get(), cancel);
  }
  // What alike questions have in common, and no others.
  const void* kind() const { return kind_; }
  const void* question() const { return question_.get(); }

 private:
  struct Kind {
    const char* to_do;
    AskedOfAKind& (*asked)(const Document&);
    std::shared_ptr<const void> (*answer)(const Document&, const void* question, const std::atomic<bool>* cancel);
  };
  template <class Q>
  static constexpr Kind kKind{Q::kToDo, &detail::asked_of<Q>, &detail::worked_out<Q>};

  const Kind* kind_;
  std::shared_ptr<const void> question_;
};

// Works it out at once, for callers that may wait.
void answer_now(const Document& document, const AnyQuestion& question);

}  // namespace gapscope
