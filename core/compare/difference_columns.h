#pragma once
// What a comparison found, as columns (core/base/table/columns.h): kernels, operators, and what one step did that the median
// one did not. A difference is b - a.
#include <memory>
#include <span>

#include "core/base/table/columns.h"
#include "core/compare/comparison.h"
#include "core/compare/step_difference.h"

namespace gapscope {

// Rows as the comparison has them, which must outlive the table. `indented`: names stand below what called them.
std::unique_ptr<TableRows> kernel_change_rows(const Comparison& comparison);
std::unique_ptr<TableRows> operator_rows(const Comparison& comparison, bool indented = false);
std::unique_ptr<TableRows> step_difference_rows(std::span<const StepDifference> rows);

}  // namespace gapscope
