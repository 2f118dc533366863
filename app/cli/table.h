#pragma once
#include <optional>
#include <string>

#include "core/analyze/op_table/op_table.h"

namespace gapscope {

struct TableOptions {
  std::string trace;  // "-" is standard input
  std::string sort;   // a word of op_table_sort_words(); empty: order of first appearance
  std::size_t limit = 100;
  std::size_t max_name_column_width = 55;
  TableMode mode = TableMode::exact;
  std::optional<Span> range;
  bool by_shape = false;
  bool csv = false;
  bool json = false;
};

// "FROM_NS:TO_NS" to a span; nullopt when it is not that.
std::optional<Span> parse_range(const std::string& text);

// `gapscope table TRACE`: PyTorch's profiler table on stdout, as text (PyTorch's own, byte for byte), CSV or JSON.
int table(const TableOptions& options);

}  // namespace gapscope
