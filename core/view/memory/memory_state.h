#pragma once
// What the tab "Memory" asks for, and what the user changed there.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/analyze/memory/memory.h"
#include "core/view/table/row_order.h"

namespace gapscope {

struct Document;

// The memory of a stretch of time, which takes a walk along all records before its end.
struct RangeMemory {
  Span range;
  MemoryUse use;
};
struct MemoryQuestion {
  using Answer = RangeMemory;
  static constexpr const char* kToDo = "add up the memory";
  Span range;
  friend bool operator==(const MemoryQuestion&, const MemoryQuestion&) = default;
};
std::shared_ptr<const RangeMemory> answer(const Document& document, const MemoryQuestion& question,
                                          const std::atomic<bool>* cancel);

enum class MemoryColumn : std::uint8_t { name, where, allocations, allocated, freed };

// Owned by TraceView.
struct MemoryState {
  std::size_t device = 0;  // position in MemoryUse::devices of the whole recording: whose curve is shown
  RowOrder order{static_cast<std::size_t>(MemoryColumn::allocated), true};
};

// Positions in MemoryUse::operators.
std::vector<std::uint32_t> memory_rows(const Trace& trace, const MemoryUse& use, const RowOrder& order);
// Those rows, bytes as they are.
std::string memory_csv(const Trace& trace, const MemoryUse& use, const std::vector<std::uint32_t>& rows);
// "outside every operator" where it has no name.
std::string_view memory_operator_name(const Trace& trace, const MemoryOperator& op);

}  // namespace gapscope
