#pragma once
// The order in which the window lists the idle gaps of the GPUs.
#include <cstdint>
#include <optional>
#include <vector>

#include "core/analyze/idle_gaps.h"

namespace gapscope {

enum class GapColumn : std::uint8_t { begin, length, reason, stream, cause, count_ };

struct GapOrder {
  GapColumn column = GapColumn::length;
  bool descending = true;
  friend bool operator==(const GapOrder&, const GapOrder&) = default;
};

// Positions in `gaps`; ties keep their order.
std::vector<std::uint32_t> arrange_gaps(const Trace& trace, const IdleGaps& gaps, const GapOrder& order);

struct GapsState {
  GapOrder order;
  std::int64_t selected = -1;  // position in the gaps

  struct Arranged {
    const IdleGaps* of = nullptr;
    GapOrder order;
    std::optional<Span> range;  // only gaps of which a part lies in it
    std::vector<std::uint32_t> rows;
  } arranged;
};

}  // namespace gapscope
