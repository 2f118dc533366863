#pragma once
// Who a GPU's gaps are put down to: on the thread that launched what ended a gap, the innermost frame of the program's own code
// (is_own_frame, core/diagnose/code_place.h), else an annotation of the program, else the operator, else the call.
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/analyze/account/time_account.h"
#include "core/base/table/columns.h"
#include "core/index/lane_index.h"
#include "core/view/gpu/gaps_model.h"

namespace gapscope {

struct Document;
struct TraceView;

// The owner of any slice of the host, asked for one after another: what was found on the way up is remembered.
class OwnerFinder {
 public:
  // Both must outlive it.
  OwnerFinder(const Trace& trace, const LaneIndex& lanes);
  // The slice that owns it, may be itself; none of none.
  SliceId of(SliceId slice);
  // What the host was in: of a DataLoader the innermost function that it called.
  SliceId innermost(const HostPiece& piece) const;

 private:
  enum class Rank : std::uint8_t { call, op, annotation, frame };
  Rank rank(SliceId slice);

  const Trace& trace_;
  const LaneIndex& lanes_;
  std::vector<std::uint32_t> owners_;  // by slice
  std::vector<std::int8_t> is_own_;    // by name: whether it is a frame of the program; below 0: not looked at
  std::vector<SliceId> way_;
};

// An owner in words: "train_step" and "model/train.py:41". `place` is empty where it is no frame, `name` never is.
struct OwnerWords {
  std::string name, place;
};
// Of none: that the file has nothing there.
OwnerWords words_of_owner(const Trace& trace, SliceId owner);

// A row of the tab "Gaps": all gaps of one cause that this owner has more of than any other.
struct GapOwner {
  OwnerWords words;
  IdleCause cause = IdleCause::unrecorded;  // DeviceGap::main of each
  std::uint64_t count = 0;
  Ns sum = 0, longest = 0;
  std::uint32_t first = 0;  // in GapOwners::gaps
};
struct GapOwners {
  std::vector<GapOwner> rows;                       // by sum, the largest first
  std::vector<ChosenGap> gaps;                      // row by row, in each the longest first
  Ns idle = 0;                                      // of all rows
  std::int64_t row_of(const ChosenGap& gap) const;  // -1: of none. O(gaps)
};
// Of all GPUs; with a range of those gaps that begin in it. O(host slices + gaps log gaps). Null when cancelled.
struct GapOwnersQuestion {
  using Answer = GapOwners;
  static constexpr const char* kToDo = "add up the gaps by owner";
  std::optional<Span> range;
  friend bool operator==(const GapOwnersQuestion&, const GapOwnersQuestion&) = default;
};
std::shared_ptr<const GapOwners> answer(const Document& document, const GapOwnersQuestion& question,
                                        const std::atomic<bool>* cancel);

struct GapOwnerContext {
  ProgramKind program{};
  Ns idle = 0;
};
using GapOwnerRows = ListRows<GapOwner, GapOwnerContext>;
// The answer must outlive it.
GapOwnerRows gap_owner_rows(const Trace& trace, const GapOwners& owners);

// The longest gap of a row; behind `chosen`, where that is one of them, the next shorter, after the shortest the longest again.
ChosenGap next_of_owner(const GapOwners& owners, std::size_t row, const std::optional<ChosenGap>& chosen);

// What the host was in during a gap, by owner, the largest first.
struct OwnerTime {
  OwnerWords words;
  SliceId slice;  // the owner's slice that had most of it
  Ns time = 0;
  // What it was in: operators and calls by name, the largest first.
  struct Inner {
    std::string name;
    SliceId slice;  // the longest of them
    std::uint64_t count = 0;
    Ns time = 0;
  };
  std::vector<Inner> inner;
};
std::vector<OwnerTime> owners_in(const Document& document, const TimeAccount& account, const DeviceGap& gap);

// Why what ended a gap could not begin sooner: a sentence each.
std::vector<std::string> why_not_sooner(const Trace& trace, const DeviceGap& gap);

// What is shown about the chosen gap, cached from frame to frame.
struct GapStory {
  const DeviceGap* gap = nullptr;
  Span stretch;  // of the account, whose gaps are counted
  std::vector<OwnerTime> owners;
  std::vector<std::string> sooner;
  // The gaps that have the same main cause; `place`: how many of them are not shorter.
  std::uint64_t alike = 0, place = 0;
  Ns alike_time = 0;
};
// Null where none is chosen. Made anew, in O(gaps + what the host was in during it), for another gap or stretch.
const GapStory* gap_story(const Document& document, TraceView& view);

}  // namespace gapscope
