#pragma once
// GPU work by name as the window shows it, and what is known about the kernel that is chosen.
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/analyze/gpu/kernel_table.h"
#include "core/view/table/table_look.h"
#include "core/view/timeline/slice_cycle.h"

namespace gapscope {

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
  TableLook look;
  StringId selected;
  SliceId followed;  // the selection that was last taken over
  WhatIf what_if;

  // Made from the above, the range and the document's table when one of them changed.
  struct Arranged {
    const KernelTable* whole = nullptr;             // of the document: whose rows these are
    std::shared_ptr<const KernelsAnswer> of_range;  // null: the whole document
    TableLook look;
    std::vector<std::uint32_t> rows;
    StringId called;
    KernelCalls calls;  // of `called`
    const KernelTable& table() const { return of_range ? of_range->table : *whole; }
    std::optional<Span> range() const { return of_range ? std::optional(of_range->range) : std::nullopt; }
  } arranged;
};

}  // namespace gapscope
