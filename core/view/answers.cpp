#include "core/view/answers.h"

#include "core/view/document.h"

namespace gapscope {

std::shared_ptr<const AnalysisQuestion::Answer> answer(const Document& document, const AnalysisQuestion&,
                                                       const std::atomic<bool>* cancel) {
  document.diagnose(cancel);
  return std::make_shared<const AnalysisQuestion::Answer>();
}

Answers& answers_of(const Document& document) { return *document.answers; }

void answer_now(const Document& document, const AnyQuestion& question) {
  AskedOfAKind& at = question.asked(document);
  at.set_question(question.question());
  at.set_answer(question.answer(document, nullptr));
}

}  // namespace gapscope
