#pragma once
// The order in which the window lists the idle gaps of the GPUs.
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/analyze/gpu/gap_columns.h"
#include "core/view/table/table_look.h"

namespace gapscope {

struct Document;
struct AccountSums;  // core/view/timeline/gap_view.h
struct GapStory;     // core/view/gpu/gap_owners.h
struct ChosenSlices;
struct PartAdvices;

// A gap of the time account.
struct ChosenGap {
  std::int32_t device = 0;
  std::size_t gap = 0;  // position in DeviceAccount::gaps
  friend bool operator==(const ChosenGap&, const ChosenGap&) = default;
};

// Positions in `gaps` of those that lie, at least in part, in `range`, or of all.
std::vector<std::uint32_t> arrange_gaps(const Trace& trace, const IdleGaps& gaps, const TableLook& look,
                                        const std::optional<Span>& range);

// Asked once the facts are there. Sorting hundreds of thousands of gaps takes longer than a frame.
struct GapsQuestion {
  using Answer = std::vector<std::uint32_t>;  // positions in StreamFacts::gaps
  static constexpr const char* kToDo = "put the idle gaps in order";
  TableLook look;
  std::optional<Span> range;
  friend bool operator==(const GapsQuestion&, const GapsQuestion&) = default;
};
std::shared_ptr<const GapsQuestion::Answer> answer(const Document& document, const GapsQuestion& question,
                                                   const std::atomic<bool>* cancel);

struct GapsState {
  TableLook look;
  std::int64_t selected = -1;       // position in the gaps
  std::optional<ChosenGap> chosen;  // on the timeline; while no slice is selected
  std::shared_ptr<const AccountSums> sums;
  std::shared_ptr<const ChosenSlices> slices;
  std::shared_ptr<PartAdvices> advices;
  std::shared_ptr<const GapStory> story;
  // The tab "Gaps".
  TableLook owners_look;
  ArrangedRows owners;
  std::int64_t owner = -1;  // row of the gap `owner_of`
  std::optional<ChosenGap> owner_of;
};

}  // namespace gapscope
