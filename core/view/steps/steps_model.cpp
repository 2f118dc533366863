#include "core/view/steps/steps_model.h"

namespace gapscope {

StepsAnswer answer_steps(const Trace& trace, const LinkIndex& links, const std::string& annotation) {
  return {annotation, make_steps(trace, gpu_ops(trace, links), annotation), annotation_names(trace)};
}

}  // namespace gapscope
