#include "core/view/steps/steps_model.h"

#include "core/view/document.h"

namespace gapscope {

std::shared_ptr<const StepsAnswer> answer(const Document& document, const StepsQuestion& question,
                                          const std::atomic<bool>* cancel) {
  if (cancel && *cancel) return nullptr;
  const Trace& trace = document.trace;
  return std::make_shared<const StepsAnswer>(StepsAnswer{
      question.annotation, make_steps(trace, gpu_ops(trace, document.links), question.annotation), annotation_names(trace)});
}

}  // namespace gapscope
