#pragma once
// The columns of what is in a marked area, by name, category or lane: of the tab Selection.
#include <string>
#include <vector>

#include "core/analyze/selection/area_stats.h"
#include "core/base/table/columns.h"
#include "core/index/name_index.h"
#include "core/trace/trace.h"

namespace gapscope {

enum class AreaTable : std::uint8_t { name, category, lane, annotation };

struct AreaContext {
  const Trace& trace;
  const AreaStats& stats;
  AreaTable table;
  const NameIndex* names = nullptr;  // to show kernels by their short names
};
using AreaRows = ListRows<AreaRow, AreaContext>;

const std::vector<AreaRow>& rows_of(const AreaStats& stats, AreaTable table);
std::string row_name(const Trace& trace, AreaTable table, const AreaRow& row);
// All must outlive it.
AreaRows area_rows(const AreaContext& context);

}  // namespace gapscope
