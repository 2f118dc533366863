#include "core/view/details/kernel_command.h"

#include "core/view/document.h"

namespace gapscope {

std::shared_ptr<const KernelCommand> answer(const Document& document, const KernelCommandQuestion& question,
                                            const std::atomic<bool>* cancel) {
  auto found = std::make_shared<KernelCommand>();
  found->kernel = question.kernel;
  const NcuCommands* const commands = document.session.fact<NcuCommands>(
      [&] { return std::make_unique<const NcuCommands>(document.trace, document.session.ops()); });
  found->ncu = commands->of(question.kernel);
  return cancel && *cancel ? nullptr : found;
}

}  // namespace gapscope
