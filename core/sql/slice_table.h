#pragma once
// The table `slice`, and what gives rows of it: `ancestor_slice(id)`, `descendant_slice(id)`.
#include <memory>

#include "core/sql/virtual_table.h"
#include "core/sql/world.h"

namespace gapscope::sql {

// Hidden columns of `slice`: what extract_arg(arg_set_id, 'args.correlation') and 'args.External id' give, for joins by an
// index.
inline constexpr const char* kCorrelationColumn = "_args_correlation";
inline constexpr const char* kExternalIdColumn = "_args_external_id";

// The columns of `slice`, in their order.
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

std::unique_ptr<Table> slice_table(World& world);

// Ids of what encloses a slice, outermost first; of what it encloses, in order.
std::vector<std::uint32_t> ancestors_of(World& world, std::uint32_t id);
std::vector<std::uint32_t> descendants_of(World& world, std::uint32_t id);

// The value of an arg as SQLite's.
void give_arg(sqlite3_context* out, const ArgValue& value);

}  // namespace gapscope::sql
