#pragma once
// The profiler table as PyTorch prints it, byte for byte: EventList.table() of torch 2.11, with its chain of doubles, so
// that the last digit and the order of equal totals agree. Everything else in Gapscope counts in integers.
#include <string>

#include "core/analyze/op_table/op_table.h"

namespace gapscope {

struct OpTableText {
  OpTableSort sort = OpTableSort::none;
  std::size_t row_limit = 100;
  std::size_t max_name_column_width = 55;  // characters; PyTorch's default
};

// `events` must still have their tree.
std::string print_op_table(const Trace& trace, const OpEvents& events, const OpTable& table, const OpTableOptions& options,
                           const OpTableText& text);

}  // namespace gapscope
