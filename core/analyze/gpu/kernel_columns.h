#pragma once
// The columns of GPU work by name: of the tab Kernels, `gapscope kernels` and the SQL table kernel_summary.
#include <optional>
#include <span>
#include <string>

#include "core/analyze/captured/captured_work.h"
#include "core/analyze/gpu/kernel_table.h"
#include "core/analyze/gpu/occupancy.h"
#include "core/base/table/columns.h"

namespace gapscope {

class NcuCommands;

struct KernelContext {
  const Trace& trace;
  const LinkIndex* links = nullptr;  // for modules and Python lines in JSON
  const NcuCommands* ncu = nullptr;  // for the commands in JSON
};
using KernelRows = ListRows<KernelRow, KernelContext>;

std::span<const ColumnOf<KernelRow, KernelContext>> kernel_columns();
// `table` must outlive it.
KernelRows kernel_rows(const KernelTable& table, const KernelContext& context);

// "aten::mm  x 12, joined: it captured the graph", a line each, the most frequent first.
std::string operators_text(const KernelRow& row);
// Around what launched or captured its longest run.
CallPlace place_of_kernel(const Trace& trace, const LinkIndex& links, const KernelRow& row);
// Of the first launch shape; nothing where the file does not state it or describe the GPU.
std::optional<Occupancy> occupancy_of(const Trace& trace, const GpuRow& gpu);

}  // namespace gapscope
