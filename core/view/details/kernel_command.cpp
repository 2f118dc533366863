#include "core/view/details/kernel_command.h"

#include "core/view/document.h"

namespace gapscope {

std::shared_ptr<const KernelCommand> answer(const Document& document, const KernelCommandQuestion& question,
                                            const std::atomic<bool>* cancel) {
  auto found = std::make_shared<KernelCommand>();
  found->kernel = question.kernel;
  found->ncu = ncu_command(document.trace, document.links, document.names, question.kernel, cancel);
  return cancel && *cancel ? nullptr : found;
}

}  // namespace gapscope
