#pragma once
// The profiler table as the window shows it: which question is asked, which rows of the answer pass the filter, in which
// order. The answer is worked out elsewhere (it may take a while); the model only arranges it.
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/analyze/op_table/op_columns.h"
#include "core/view/table/table_look.h"
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

// The slices that a row counts, in order of begin.
std::vector<SliceId> slices_of_row(const Trace& trace, const OpEvents& events, const TableQuestion& question,
                                   const OpTableRow& row);
// The state of the tab, owned by TraceView. The panel asks when `question` changes.
struct TableState {
  TableQuestion question;
  TableLook look;
  std::int64_t selected = -1;  // position in the table's rows
  ArrangedRows arranged;       // made from the above when one of them changed
};

OpTableRows rows_of(const Trace& trace, const TableAnswer& answer);
// Sum of Self CUDA of these rows: neither operators, whose kernels have rows, nor annotations, which span such.
Ns self_cuda_of(const OpTable& table, const std::vector<std::uint32_t>& rows);
// Brings `arranged` up to date; true when it had to be made anew. `answer` is not null.
bool arrange_table(const Trace& trace, const std::shared_ptr<const TableAnswer>& answer, TableState& state);

// The table is PyTorch's own, which knows no captures: kernels of replayed graphs count for the graph's launch. Where their
// capture is known this says so, and where their operators are; else empty. One line.
std::string replayed_words(const Trace& trace);

}  // namespace gapscope
