#pragma once
// B with its E, b with its e: half slices paired into whole ones.
#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/build/row_store.h"

namespace gapscope {

struct PairedSlice {
  Ns begin = 0;
  Ns end = 0;
  std::uint64_t offset = 0;
  std::uint64_t external_id = 0;
  std::uint32_t lane = 0;
  std::uint32_t name = 0;
  std::uint32_t category = 0;
  bool open = false;                             // never ended: `end` is to be set to the end of the trace
  std::uint64_t end_offset = ~std::uint64_t{0};  // of the event that ended it
};

struct PairedHalves {
  std::vector<PairedSlice> slices;   // in file order of their begins
  std::vector<RawInstant> instants;  // ph:n
  std::uint64_t matched = 0;         // B with E
};

// `halves` carry global ids and are in file order. B/E pair per lane, last begun first, in time order (file order at
// equal times). b/e pair per (async lane, id), last begun first; `async_lane(half)` says which lane they are drawn on. Once
// `cancel` (may be null) is set it ends early, and the result may only be thrown away.
PairedHalves pair_halves(std::vector<RawHalf> halves, const std::function<std::uint32_t(const RawHalf&)>& async_lane,
                         LoadReport& report, const std::atomic<bool>* cancel = nullptr);

// The halves of a file become slices behind the others, with what they say of GPU work and calls. Halves that are open end with
// the last of all slices, and are noted in `out`. False when cancelled.
bool pair_half_slices(RowStore& rows, Trace& out, const std::atomic<bool>* cancel);

}  // namespace gapscope
