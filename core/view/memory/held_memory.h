#pragma once
// Who holds a device's memory at a moment, its peak above all: what was allocated before and is freed later, summed up by who
// asked for it.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/analyze/memory/allocations.h"
#include "core/base/ids.h"
#include "core/base/table/columns.h"

namespace gapscope {

struct Document;
struct Trace;

struct HeldRow {
  enum class Of : std::uint8_t { allocations, before } of = Of::allocations;  // before: asked for before the recording
  StringId name;                     // of the operator, else of the innermost slice; none: outside every slice
  std::string module, frame, place;  // "Linear_3"; the Python frame, and "train.py:12"; empty: not recorded
  std::int64_t bytes = 0;
  std::vector<Allocation> allocations;  // in order of record(); of what was there before not known
  std::vector<SliceId> slices;          // that asked, in order of time
};

struct HeldMemory {
  std::vector<HeldRow> rows;      // most bytes first
  bool states_addresses = false;  // without them it is not known what is freed when
};

// At the point of the device's curve (MemoryCurve), of the whole recording or of one that ends earlier. Where totals are
// stated, what they hold beside the allocations is from before the recording; where they are not, that is unknown and left out.
struct HeldQuestion {
  using Answer = HeldMemory;
  static constexpr const char* kToDo = "find what holds the memory";
  std::int16_t device_type = 0, device = -1;  // of MemoryDevice
  std::size_t point = 0;
  friend bool operator==(const HeldQuestion&, const HeldQuestion&) = default;
};
std::shared_ptr<const HeldMemory> answer(const Document& document, const HeldQuestion& question,
                                         const std::atomic<bool>* cancel);

struct HeldContext {
  const Trace& trace;
};
using HeldRows = ListRows<HeldRow, HeldContext>;
// Both must outlive it.
HeldRows held_rows(const Trace& trace, const HeldMemory& held);
// "aten::empty", "from before the recording" (of a crop "this part"), "outside every operator".
std::string held_name(const Trace& trace, const HeldRow& row);

}  // namespace gapscope
