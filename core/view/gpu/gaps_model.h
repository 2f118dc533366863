#pragma once
// The order in which the window lists the idle gaps of the GPUs.
#include <atomic>
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

struct Document;
struct AccountSums;  // core/view/timeline/gap_view.h
struct ChosenSlices;
struct PartAdvices;

// A gap of the time account.
struct ChosenGap {
  std::int32_t device = 0;
  std::size_t gap = 0;  // position in DeviceAccount::gaps
  friend bool operator==(const ChosenGap&, const ChosenGap&) = default;
};

// Positions in `gaps` of those that lie, at least in part, in `range`, or of all; ties keep their order.
std::vector<std::uint32_t> arrange_gaps(const Trace& trace, const IdleGaps& gaps, const GapOrder& order,
                                        const std::optional<Span>& range);

// Asked once the facts are there. Sorting hundreds of thousands of gaps takes longer than a frame.
struct GapsQuestion {
  using Answer = std::vector<std::uint32_t>;  // positions in GpuFacts::gaps
  static constexpr const char* kToDo = "put the idle gaps in order";
  GapOrder order;
  std::optional<Span> range;
  friend bool operator==(const GapsQuestion&, const GapsQuestion&) = default;
};
std::shared_ptr<const GapsQuestion::Answer> answer(const Document& document, const GapsQuestion& question,
                                                   const std::atomic<bool>* cancel);

struct GapsState {
  GapOrder order;
  std::int64_t selected = -1;       // position in the gaps
  std::optional<ChosenGap> chosen;  // on the timeline; while no slice is selected
  std::shared_ptr<const AccountSums> sums;
  std::shared_ptr<const ChosenSlices> slices;
  std::shared_ptr<PartAdvices> advices;
};

}  // namespace gapscope
