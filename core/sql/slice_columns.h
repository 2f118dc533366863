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

std::span<const ColumnInfo> slice_columns();  // those behind kSliceSliceId are hidden

void give_slice_column(World& world, sqlite3_context* out, std::uint32_t id, int column);

}  // namespace gapscope::sql
