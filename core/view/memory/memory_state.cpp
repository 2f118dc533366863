#include "core/view/memory/memory_state.h"

#include "core/view/document.h"

namespace gapscope {

std::shared_ptr<const RangeMemory> answer(const Document& document, const MemoryQuestion& question,
                                          const std::atomic<bool>* cancel) {
  auto found = std::make_shared<RangeMemory>();
  found->range = question.range;
  found->use = memory_use(document.trace, document.lanes, question.range, cancel);
  return cancel && *cancel ? nullptr : found;
}

}  // namespace gapscope
