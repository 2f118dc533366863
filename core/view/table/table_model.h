#pragma once
// The profiler table as the window shows it: which question is asked, which rows of the answer pass the filter, in which
// order. The answer is worked out elsewhere (it may take a while); the model only arranges it.
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/analyze/op_table/op_table.h"
#include "core/view/timeline/slice_cycle.h"

namespace gapscope {

struct Document;
struct TableAnswer;

struct TableQuestion {
  using Answer = TableAnswer;
  static constexpr const char* kToDo = "work out the table";
  TableMode mode = TableMode::corrected;
  bool by_shape = false;
  std::optional<Span> range;
  friend bool operator==(const TableQuestion&, const TableQuestion&) = default;
};

struct TableAnswer {
  TableQuestion question;
  OpTable table;
};
// Analyses the document first where that is not done.
std::shared_ptr<const TableAnswer> answer(const Document& document, const TableQuestion& question,
                                          const std::atomic<bool>* cancel);

enum class TableColumn : std::uint8_t {
  name,
  shape,
  device,
  calls,
  self_cpu,
  cpu,
  cpu_avg,
  self_cuda,
  cuda,
  cuda_avg,
  self_cpu_memory,
  cpu_memory,
  self_cuda_memory,
  cuda_memory,
  count_
};
struct TableColumnText {
  const char* title;
  const char* help;
};
TableColumnText column_text(TableColumn column);

constexpr std::uint32_t column_bit(TableColumn column) { return std::uint32_t{1} << static_cast<unsigned>(column); }
// Averages, and the memory of what is nested.
constexpr std::uint32_t kRareTableColumns = column_bit(TableColumn::cpu_avg) | column_bit(TableColumn::cuda_avg) |
                                            column_bit(TableColumn::cpu_memory) | column_bit(TableColumn::cuda_memory);

struct TableOrder {
  TableColumn column = TableColumn::self_cuda;
  bool descending = true;
  friend bool operator==(const TableOrder&, const TableOrder&) = default;
};

// What a column holds in a row: nanoseconds, bytes or a count. Averages round down.
std::int64_t column_value(const OpTableRow& row, TableColumn column);
bool is_time(TableColumn column);
bool is_memory(TableColumn column);

// The columns that this table has something for, in order.
std::vector<TableColumn> table_columns(const OpTable& table, bool by_shape);
// Positions in table.rows of the rows whose name or shapes hold `filter`, in this order; ties keep the table's order.
std::vector<std::uint32_t> arrange_rows(const Trace& trace, const OpTable& table, const std::string& filter,
                                        const TableOrder& order);
// Sums over these rows. Totals of CPU and CUDA stay 0: rows nest, so adding them would count time twice.
OpTableRow total_of(const OpTable& table, const std::vector<std::uint32_t>& rows);
// The slices that a row counts, in order of begin.
std::vector<SliceId> slices_of_row(const Trace& trace, const OpEvents& events, const TableQuestion& question,
                                   const OpTableRow& row);
// The rows as CSV with a header line; times in nanoseconds.
std::string table_csv(const Trace& trace, const OpTable& table, const std::vector<std::uint32_t>& rows,
                      const std::vector<TableColumn>& columns);

// The state of the tab, owned by TraceView. The panel asks when `question` changes.
struct TableState {
  TableQuestion question;
  std::string filter;
  TableOrder order;
  std::uint32_t hidden = kRareTableColumns;  // bits of the columns that are not shown
  std::int64_t selected = -1;                // position in arranged.of->table.rows

  // Made from the above when one of them changed.
  struct Arranged {
    std::shared_ptr<const TableAnswer> of;
    std::string filter;
    TableOrder order;
    std::vector<TableColumn> columns;
    std::vector<std::uint32_t> rows;
    OpTableRow total;
  } arranged;
};

// Brings `arranged` up to date; true when it had to be made anew. `answer` is not null.
bool arrange_table(const Trace& trace, const std::shared_ptr<const TableAnswer>& answer, TableState& state);

}  // namespace gapscope
