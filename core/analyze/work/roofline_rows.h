#pragma once
// The table of `gapscope roofline`, of the tab Roofline and of SQL's table roofline: rows of calls with their floors, and sums
// of them by module and by step. Its columns are declared once, here.
#include <span>
#include <string>
#include <vector>

#include "core/analyze/steps.h"
#include "core/analyze/work/floors.h"
#include "core/base/table/columns.h"
#include "core/index/link_index.h"

namespace gapscope {

struct RooflineRow {
  WorkRow work;
  Floor floor;
  std::uint32_t place = 0;              // of the row in WorkTable::rows
  std::optional<double> measured = {};  // bytes that DRAM moved for one call, on average of those that counters show of

  std::optional<double> intensity() const;   // operations per byte
  std::optional<double> per_second() const;  // operations, while its kernels ran
};

// The most headroom first; then what is not known, by kernel time. Nothing is measured.
std::vector<RooflineRow> roofline_rows(const Trace& trace, const WorkTable& table);

// What the GPU's counters say of the rows' bytes, where the trace has any: of calls that follow each other with nothing
// alongside them for two samples or more, by what their work moved a second and how long it took.
void measure_bytes(const Trace& trace, const LinkIndex& links, const WorkTable& table, std::vector<RooflineRow>& rows);

struct RooflineContext {
  const Trace& trace;
};
using RooflineTable = ListRows<RooflineRow, RooflineContext>;
std::span<const ColumnOf<RooflineRow, RooflineContext>> roofline_columns();
// `rows` must outlive it.
RooflineTable roofline_table(const Trace& trace, const std::vector<RooflineRow>& rows);

// Of the calls of a module (those in which it is the innermost) or of a step.
struct RooflineSum {
  std::string name;
  std::uint64_t calls = 0;
  Ns kernel_ns = 0;  // of all its calls
  Ns rated_ns = 0;   // of those whose floor is known
  double floor = 0;  // of these
  std::optional<double> reached() const;
  std::optional<double> headroom() const;
};
// The module instance (or record_function region) that each call is in, or was captured in, by position in WorkTable::calls;
// empty outside of all.
std::vector<std::string> modules_of_calls(const Trace& trace, const LinkIndex& links, const WorkTable& table);

// By module instance, or by record_function region where no modules were recorded; "" is outside of all. Most headroom first.
std::vector<RooflineSum> roofline_by_module(const Trace& trace, const LinkIndex& links, const WorkTable& table,
                                            const std::vector<RooflineRow>& rows);
// In time order.
std::vector<RooflineSum> roofline_by_step(const Trace& trace, const Steps& steps, const WorkTable& table,
                                          const std::vector<RooflineRow>& rows);
using RooflineSums = ListRows<RooflineSum, RooflineContext>;
RooflineSums roofline_sums(const Trace& trace, const std::vector<RooflineSum>& sums);

}  // namespace gapscope
