#pragma once
// Steps as columns (core/base/table/columns.h), and the words of what their time went into.
#include <functional>
#include <span>

#include "core/analyze/steps.h"
#include "core/base/table/columns.h"
#include "core/trace/trace.h"

namespace gapscope {

struct StepContext {
  const Trace& trace;
  std::function<CellValue(SliceId)> slice_id = {};  // as SQL counts them; nothing else asks
};
using StepColumn = ColumnOf<Step, StepContext>;
using StepRows = ListRows<Step, StepContext>;
std::span<const StepColumn> step_columns();
// Of `steps`, which must outlive them.
StepRows step_rows(std::span<const Step> steps, const StepContext& context);

// "A copy runs, and no kernel.": of what is active at a moment the first of StepRole counts.
const char* step_role_help(StepRole role);

}  // namespace gapscope
