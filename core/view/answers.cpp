#include "core/view/answers.h"

namespace gapscope {

std::shared_ptr<const AnalysisQuestion::Answer> answer(const Document& document, const AnalysisQuestion&,
                                                       const std::atomic<bool>* cancel) {
  document.diagnose(cancel);
  return std::make_shared<const AnalysisQuestion::Answer>();
}

void answer_now(const Document& document, const Question& question) {
  std::visit(
      [&](const auto& q) {
        auto& at = asked<std::decay_t<decltype(q)>>(document);
        at.question = q;
        at.answer = answer(document, q, nullptr);
      },
      question);
}

}  // namespace gapscope
