#pragma once
// What the tab "Memory" asks for, and what the user changed there.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/analyze/memory/allocations.h"
#include "core/analyze/memory/memory_columns.h"
#include "core/view/table/table_look.h"

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

// Owned by TraceView.
struct MemoryState {
  std::size_t device = 0;  // position in MemoryUse::devices of the whole recording: whose curve is shown
  enum class Shape : std::uint8_t { stack, total } shape = Shape::stack;
  enum class List : std::uint8_t { held, asked } list = List::held;
  std::vector<Allocation> chosen;  // one of the stack, or all of a row; in order of record()
  bool with_before = false;        // its axis begins at 0: with what was there before the recording
  TableLook look, held_look;
};

}  // namespace gapscope
