#include "core/analyze/memory/memory_columns.h"

#include <string>

#include "core/base/text.h"

namespace gapscope {
namespace {

using Context = MemoryContext;

CellText name_text(const Context& of, const MemoryOperator& op) {
  const std::string name = printable(memory_operator_name(of.trace, op));
  return {name, name, 0, !op.name};
}

using enum Quantity;
constexpr std::uint8_t kShown = kInGrid | kInCsv;

using TableColumn = ColumnOf<MemoryOperator, Context>;
constexpr TableColumn kColumns[] = {
    TableColumn(
        "operator", "Operator", "Innermost operator that asked for the memory.", text,
        [](const Context& of, const MemoryOperator& op) -> CellValue { return memory_operator_name(of.trace, op); },
        {.in = kShown}, name_text),
    TableColumn(
        "where", "Where", "Whose memory.", text,
        [](const Context&, const MemoryOperator& op) -> CellValue { return memory_device_name(op.device_type, op.device); },
        {.in = kInCsv}),  // the tab shows one device's
    TableColumn("allocations", "Allocations", "How often it asked.", count, &field<&MemoryOperator::allocations>,
                {.in = kShown, .chars = 10}),
    TableColumn("allocated", "Allocated", "Bytes that it asked for.", bytes, &field<&MemoryOperator::allocated>,
                {.in = kShown, .sorted = true}),
    TableColumn("freed", "Freed", "Bytes given back while it ran.", bytes, &field<&MemoryOperator::freed>,
                {.in = kShown, .spare = 2}),
};

}  // namespace

MemoryRows memory_rows(const Trace& trace, const MemoryUse& use) { return table_of(kColumns, {trace}, use.operators); }

std::string_view memory_operator_name(const Trace& trace, const MemoryOperator& op) {
  return op.name ? std::string_view(trace.strings[op.name]) : std::string_view("outside every operator");
}

}  // namespace gapscope
