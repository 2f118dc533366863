#pragma once
// The rows of the table `slice` and their ids, as Perfetto numbers them: slices and instants together in order of time, the
// longer first of those that begin together, then as they are in the file.
#include <algorithm>
#include <cstdint>

#include "core/base/column.h"
#include "core/index/lane_index.h"
#include "core/trace/trace.h"

namespace gapscope::sql {

// A slice of the trace (its SliceId), or behind those an instant (its position).
using SliceRow = std::uint32_t;

class SliceOrder {
 public:
  // O(n); 8 bytes a row.
  explicit SliceOrder(const Trace& trace);

  std::uint32_t size() const { return static_cast<std::uint32_t>(row_of_id_.size()); }
  SliceRow row(std::uint32_t id) const { return row_of_id_[id]; }
  std::uint32_t id(SliceRow row) const { return id_of_row_[row]; }
  std::uint32_t id(SliceId slice) const { return id_of_row_[slice.index()]; }
  bool is_instant(SliceRow row) const { return row >= slices_; }
  const Instant& instant(SliceRow row) const { return trace_.instants[row - slices_]; }
  SliceRow row_of_instant(std::size_t position) const { return slices_ + static_cast<std::uint32_t>(position); }

  Ns begin(SliceRow row) const { return is_instant(row) ? instant(row).time : trace_.slices.begin[row]; }
  Ns end(SliceRow row) const { return is_instant(row) ? instant(row).time : trace_.slices.end[row]; }
  // -1 of a slice that never ended, as Perfetto has it.
  Ns duration(SliceRow row) const {
    const bool open = !trace_.never_ended.empty() && !is_instant(row) &&
                      std::binary_search(trace_.never_ended.begin(), trace_.never_ended.end(), trace_.slices.offset[row]);
    return open ? -1 : end(row) - begin(row);
  }
  StringId name(SliceRow row) const { return is_instant(row) ? instant(row).name : trace_.slices.name[row]; }
  std::uint16_t category(SliceRow row) const { return is_instant(row) ? instant(row).category : trace_.slices.category[row]; }
  std::uint64_t offset(SliceRow row) const { return is_instant(row) ? instant(row).offset : trace_.slices.offset[row]; }
  LaneId lane(SliceRow row) const { return is_instant(row) ? instant(row).lane : trace_.lane_id(SliceId(row)); }

  // The first id whose begin is at or after `t`; size() where there is none. O(log n).
  std::uint32_t first_at_or_after(Ns t) const;

 private:
  const Trace& trace_;
  std::uint32_t slices_;
  Column<SliceRow> row_of_id_;
  Column<std::uint32_t> id_of_row_;
};

// What encloses what, by track: the parent of a row is the innermost slice of its track that encloses it whole. 8 bytes a row.
class SliceTree {
 public:
  SliceTree(const Trace& trace, const SliceOrder& order, const LaneIndex& lanes);
  SliceId parent(SliceRow row) const { return parent_[row]; }
  std::uint32_t depth(SliceRow row) const { return depth_[row]; }  // how many enclose it

 private:
  void nest_row(const Trace& trace, const LaneIndex& lanes, const Row& row);
  void put(SliceRow row, SliceId parent);

  Column<SliceId> parent_;
  Column<std::uint32_t> depth_;
};

}  // namespace gapscope::sql
