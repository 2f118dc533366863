#pragma once
// The columns of who asked for memory: of the tab Memory.
#include <string_view>

#include "core/analyze/memory/memory.h"
#include "core/base/table/columns.h"
#include "core/trace/trace.h"

namespace gapscope {

struct MemoryContext {
  const Trace& trace;
};
using MemoryRows = ListRows<MemoryOperator, MemoryContext>;
// Both must outlive it.
MemoryRows memory_rows(const Trace& trace, const MemoryUse& use);
// "outside every operator" where it has no name.
std::string_view memory_operator_name(const Trace& trace, const MemoryOperator& op);

}  // namespace gapscope
