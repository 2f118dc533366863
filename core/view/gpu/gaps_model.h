#pragma once
// The order in which the window lists the idle gaps of the GPUs.
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/analyze/gpu/idle_gaps.h"

namespace gapscope {

enum class GapColumn : std::uint8_t { begin, length, reason, stream, cause, count_ };

struct GapOrder {
  GapColumn column = GapColumn::length;
  bool descending = true;
  friend bool operator==(const GapOrder&, const GapOrder&) = default;
};

struct AccountSums;  // core/view/timeline/gap_view.h
struct ChosenSlices;
struct PartAdvices;

// A gap of the time account.
struct ChosenGap {
  std::int32_t device = 0;
  std::size_t gap = 0;  // position in DeviceAccount::gaps
  friend bool operator==(const ChosenGap&, const ChosenGap&) = default;
};

// Positions in `gaps`; ties keep their order.
std::vector<std::uint32_t> arrange_gaps(const Trace& trace, const IdleGaps& gaps, const GapOrder& order);

struct GapsState {
  GapOrder order;
  std::int64_t selected = -1;       // position in the gaps
  std::optional<ChosenGap> chosen;  // on the timeline; while no slice is selected
  std::shared_ptr<const AccountSums> sums;
  std::shared_ptr<const ChosenSlices> slices;
  std::shared_ptr<PartAdvices> advices;

  struct Arranged {
    const IdleGaps* of = nullptr;
    GapOrder order;
    std::optional<Span> range;  // only gaps of which a part lies in it
    std::vector<std::uint32_t> rows;
  } arranged;
};

}  // namespace gapscope
