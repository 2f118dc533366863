#include "core/view/memory/memory_state.h"

#include <utility>

#include "core/base/table/csv.h"
#include "core/view/document.h"

namespace gapscope {

std::shared_ptr<const RangeMemory> answer(const Document& document, const MemoryQuestion& question,
                                          const std::atomic<bool>* cancel) {
  auto found = std::make_shared<RangeMemory>();
  found->range = question.range;
  found->use = memory_use(document.trace, document.lanes, question.range, cancel);
  return cancel && *cancel ? nullptr : found;
}

std::string_view memory_operator_name(const Trace& trace, const MemoryOperator& op) {
  return op.name ? std::string_view(trace.strings[op.name]) : std::string_view("outside every operator");
}

std::vector<std::uint32_t> memory_rows(const Trace& trace, const MemoryUse& use, const RowOrder& order) {
  return rows_in_order(use.operators.size(), order, [&](std::uint32_t first, std::uint32_t second) {
    const MemoryOperator &a = use.operators[first], &b = use.operators[second];
    switch (static_cast<MemoryColumn>(order.column)) {
      case MemoryColumn::name: return memory_operator_name(trace, a) < memory_operator_name(trace, b);
      case MemoryColumn::where: return std::pair(a.device_type, a.device) < std::pair(b.device_type, b.device);
      case MemoryColumn::allocations: return a.allocations < b.allocations;
      case MemoryColumn::allocated: return a.allocated < b.allocated;
      case MemoryColumn::freed: return a.freed < b.freed;
    }
    return false;
  });
}

std::string memory_csv(const Trace& trace, const MemoryUse& use, const std::vector<std::uint32_t>& rows) {
  std::string text = "operator,where,allocations,allocated_bytes,freed_bytes\n";
  for (const std::uint32_t row : rows) {
    const MemoryOperator& op = use.operators[row];
    text += csv_cell(memory_operator_name(trace, op)) + ',' + memory_device_name(op.device_type, op.device) + ',' +
            std::to_string(op.allocations) + ',' + std::to_string(op.allocated) + ',' + std::to_string(op.freed) + '\n';
  }
  return text;
}

}  // namespace gapscope
