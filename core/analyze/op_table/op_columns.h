#pragma once
// The columns of the profiler table: of the tab Table and `gapscope table`.
#include "core/analyze/op_table/op_table.h"
#include "core/base/table/columns.h"
#include "core/trace/trace.h"

namespace gapscope {

struct OpTableContext {
  const Trace& trace;
  const OpTable& table;
};
using OpTableRows = ListRows<OpTableRow, OpTableContext>;

// `table` must outlive it. Sizes of inputs where rows are distinguished by them, memory where it was recorded.
OpTableRows op_table_rows(const Trace& trace, const OpTable& table, bool by_shape);

}  // namespace gapscope
