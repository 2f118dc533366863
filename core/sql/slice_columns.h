#pragma once
// The columns of `slice`, in their order, and the value of each.
#include "core/sql/virtual_table.h"
#include "core/sql/world.h"

namespace gapscope::sql {

enum SliceColumn : int {
  kSliceId,
  kSliceTs,
  kSliceDur,
  kSliceTrack,
  kSliceCategory,
  kSliceName,
  kSliceDepth,
  kSliceParent,
  kSliceArgSet,
  kSliceCat,
  kSliceSliceId,
  kSliceThreadTs,
  kSliceThreadDur,
  kSliceCorrelation,
  kSliceExternalId,
  kSliceFlops,
  kSliceBytes,
  kSliceFloor,
};
constexpr int kSliceStart = kSliceSliceId + 1;  // of the functions: their first hidden column is their argument

// Of `slice`; without what is hidden, and with `start_id` at the end, those of the functions that give slices.
std::span<const ColumnInfo> slice_columns();
std::span<const ColumnInfo> slice_columns_with_start();

void give_slice_column(World& world, sqlite3_context* out, std::uint32_t id, int column);

}  // namespace gapscope::sql
