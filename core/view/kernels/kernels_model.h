#pragma once
// GPU work by name as the window shows it: which rows pass the filter, in which order, and what is known about the one
// that is chosen.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/analyze/gpu/kernel_table.h"
#include "core/analyze/gpu/occupancy.h"
#include "core/view/timeline/slice_cycle.h"

namespace gapscope {

enum class KernelColumn : std::uint8_t {
  name,
  kind,
  count,
  total,
  share,
  mean,
  min,
  median,
  p95,
  max,
  cv,
  registers,
  shared_memory,
  grid,
  block,
  op,
  count_
};
constexpr std::size_t kKernelColumns = static_cast<std::size_t>(KernelColumn::count_);
struct KernelColumnText {
  const char* title;
  const char* help;
};
KernelColumnText column_text(KernelColumn column);
// What a column sorts by; the words of a column that is none.
double column_number(const KernelRow& row, KernelColumn column);
std::string column_words(const Trace& trace, const KernelRow& row, KernelColumn column);
bool is_words(KernelColumn column);

constexpr std::uint32_t column_bit(KernelColumn column) { return std::uint32_t{1} << static_cast<unsigned>(column); }
// What few ask for, or what is said of the chosen kernel anyway.
constexpr std::uint32_t kRareKernelColumns = column_bit(KernelColumn::min) | column_bit(KernelColumn::median) |
                                             column_bit(KernelColumn::p95) | column_bit(KernelColumn::cv) |
                                             column_bit(KernelColumn::registers) | column_bit(KernelColumn::shared_memory) |
                                             column_bit(KernelColumn::grid) | column_bit(KernelColumn::block);

struct KernelOrder {
  KernelColumn column = KernelColumn::total;
  bool descending = true;
  friend bool operator==(const KernelOrder&, const KernelOrder&) = default;
};

// Positions in table.rows; `filter` is looked for in names, kinds and launching operators.
std::vector<std::uint32_t> arrange_kernels(const Trace& trace, const KernelTable& table, const std::string& filter,
                                           const KernelOrder& order);

// The rows in this order, all columns, with a header line; times in nanoseconds.
std::string kernels_csv(const Trace& trace, const KernelTable& table, const std::vector<std::uint32_t>& rows);

// One kernel's calls, for its charts.
struct KernelCalls {
  std::vector<SliceId> slices;  // in order of begin
  DurationHistogram histogram;
  Ns longest = 0;
};
KernelCalls kernel_calls(const Trace& trace, std::span<const SliceId> named, StringId name, std::optional<Span> range);
// The bin of a duration; none outside of all.
std::optional<std::size_t> bin_of(const DurationHistogram& histogram, Ns duration);

// "what if" sliders; 0 where the kernel's own value holds.
struct WhatIf {
  int threads = 0, registers = 0, shared_kb = 0;
  bool open = false;
};

// The kernels of a range: over millions of slices that takes longer than a frame.
struct Document;
struct KernelsAnswer;
struct KernelsQuestion {
  using Answer = KernelsAnswer;
  static constexpr const char* kToDo = "work out the kernels";
  Span range;
  friend bool operator==(const KernelsQuestion&, const KernelsQuestion&) = default;
};
struct KernelsAnswer {
  Span range;
  KernelTable table;
};
std::shared_ptr<const KernelsAnswer> answer(const Document& document, const KernelsQuestion& question,
                                            const std::atomic<bool>* cancel);

// The state of the tab, owned by TraceView. The panel asks when there is another range; until the answer is there the last one
// is shown.
struct KernelsState {
  std::string filter;
  KernelOrder order;
  std::uint32_t hidden = kRareKernelColumns;  // bits of the columns that are not shown
  StringId selected;
  SliceId followed;  // the selection that was last taken over
  WhatIf what_if;

  // Made from the above, the range and the document's table when one of them changed.
  struct Arranged {
    const KernelTable* whole = nullptr;             // of the document: whose rows these are
    std::shared_ptr<const KernelsAnswer> of_range;  // null: the whole document
    std::string filter;
    KernelOrder order;
    std::vector<std::uint32_t> rows;
    StringId called;
    KernelCalls calls;  // of `called`
    const KernelTable& table() const { return of_range ? of_range->table : *whole; }
    std::optional<Span> range() const { return of_range ? std::optional(of_range->range) : std::nullopt; }
  } arranged;
};

}  // namespace gapscope
