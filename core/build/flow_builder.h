#pragma once
// Arrows: each end of a flow is bound to a slice, then starts are joined with their ends.
#include <cstdint>
#include <span>
#include <unordered_map>

#include "core/base/column.h"
#include "core/base/counted_steps.h"
#include "core/base/max_tree.h"
#include "core/base/paged_rows.h"
#include "core/build/row_store.h"
#include "core/trace/load_report.h"
#include "core/trace/tables.h"

namespace gapscope {

// Finds the slices of one lane that its flows are bound to. `sorted`: positions in `begin`, ... in (begin, longer first) order.
class FlowBinder {
 public:
  FlowBinder(std::span<const std::uint32_t> sorted, std::span<const Ns> begin, std::span<const Ns> end,
             std::span<const std::uint8_t> kinds)
      : sorted_(sorted), begin_(begin), end_(end), kinds_(kinds) {}

  // A slice that begins at exactly that time, preferring the kind that such arrows join and then the innermost, else the
  // innermost slice around that time, or kUnbound. `wants_op`: fwdbwd joins operators; launches join calls and GPU work.
  // O(log n), and quick where the times asked for one after the other lie near each other.
  std::uint32_t slice_at(Ns time, bool wants_op);
  // The first that begins at or after that time, or kUnbound.
  std::uint32_t next_slice(Ns time);
  // One that ends at exactly that time, of those that begin shortly before; or kUnbound.
  std::uint32_t slice_ended_at(Ns time);

 private:
  std::size_t first_at_or_after(Ns time) const;
  std::uint32_t enclosing(std::size_t from, Ns t);
  std::uint32_t preferred(std::size_t at, bool wants_op);
  // The last time at which a flow is still in the slice; earlier than all of them where it has no length.
  Ns last_moment(std::uint32_t slice) const { return end_[slice] > begin_[slice] ? end_[slice] - 1 : MaxTree::kLowest; }

  static constexpr std::size_t kNear = 64;           // slices that are looked at one by one
  static constexpr std::uint64_t kStepsInTree = 32;  // about two a level

  std::span<const std::uint32_t> sorted_;
  std::span<const Ns> begin_;
  std::span<const Ns> end_;
  std::span<const std::uint8_t> kinds_;
  std::size_t at_ = 0;                                     // where the last search ended
  MaxTree ends_;                                           // by place in `sorted`, from the first far search on
  std::unordered_map<std::size_t, std::uint32_t> crowds_;  // what is preferred where many begin together
  StepCount count_;
};

// Joins starts, steps and ends of equal (category, name, id). `flows` are in file order and bound.
// Returns pairs of the slices they are bound to, with the category.
struct JoinedFlow {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t category = 0;
};
Column<JoinedFlow> join_flows(const PagedRows<StoredFlow>& flows, const SideTables& side, const StringTable& strings,
                              FlowCounts& counts, LoadReport& report);

}  // namespace gapscope
