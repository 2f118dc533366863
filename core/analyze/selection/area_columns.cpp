#include "core/analyze/selection/area_columns.h"

#include "core/analyze/kernel_name/shown_name.h"
#include "core/base/demangle.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

using Context = AreaContext;

CellText name_text(const Context& of, const AreaRow& row) {
  const std::string whole = printable(demangle(row_name(of.trace, of.table, row)));
  if (of.table != AreaTable::name || !of.names) return {whole, whole};
  return {printable(shown_name(of.trace, of.names->slices_named(StringId(row.key)).front())), whole};
}

CellText self_text(const Context& of, const AreaRow& row) {
  CellText cell = usual_text(row.self, {"", "", "", Quantity::ns, {}});
  if (row.self <= 0 || of.stats.self <= 0 || of.table == AreaTable::annotation) return cell;
  const double share = static_cast<double>(row.self) / static_cast<double>(of.stats.self);
  cell.share = static_cast<float>(share);
  cell.hover += ", " + format_percent(share) + " of all self time in the area";
  return cell;
}

using enum Quantity;
constexpr std::uint8_t kShown = kInGrid | kInCsv;
constexpr float kWidth = 11;  // digits

using TableColumn = ColumnOf<AreaRow, Context>;
constexpr TableColumn kColumns[] = {
    TableColumn(
        "name", "Name", "What the row's slices have in common.", text,
        [](const Context& of, const AreaRow& row) -> CellValue { return row_name(of.trace, of.table, row); }, {.in = kShown},
        name_text),
    TableColumn("count", "Count", "Slices that are at least partly in the area.", count, &field<&AreaRow::count>,
                {.in = kShown, .chars = kWidth, .sum = true}),
    TableColumn("total", "Total", "Sum of their times inside the area. Slices of one row may be nested.", ns,
                &field<&AreaRow::total>, {.in = kShown, .chars = kWidth, .sorted = true}),
    TableColumn("self", "Self", "Total less the time that slices directly inside them cover.", ns, &field<&AreaRow::self>,
                {.in = kShown, .chars = kWidth, .sum = true}, self_text),
    TableColumn("mean", "Mean", "Total for each slice.", ns,
                [](const Context&, const AreaRow& row) -> CellValue { return row.mean(); }, {.in = kShown, .chars = kWidth}),
    TableColumn("min", "Min", "The shortest time inside the area.", ns, &field<&AreaRow::min>, {.in = kShown, .chars = kWidth}),
    TableColumn("max", "Max", "The longest time inside the area.", ns, &field<&AreaRow::max>, {.in = kShown, .chars = kWidth}),
};

}  // namespace

const std::vector<AreaRow>& rows_of(const AreaStats& stats, AreaTable table) {
  if (table == AreaTable::name) return stats.by_name;
  if (table == AreaTable::annotation) return stats.by_annotation;
  return table == AreaTable::category ? stats.by_category : stats.by_lane;
}

std::string row_name(const Trace& trace, AreaTable table, const AreaRow& row) {
  if (table == AreaTable::name || table == AreaTable::annotation) return std::string(trace.strings[StringId(row.key)]);
  if (table == AreaTable::category) return std::string(trace.strings[trace.categories[row.key].name]);
  const Lane& lane = trace.lane(LaneId(row.key));
  const std::string& process = trace.processes[lane.process.index()].title;
  return process.empty() ? lane.title : process + " / " + lane.title;
}

AreaRows area_rows(const AreaContext& context) { return table_of(kColumns, context, rows_of(context.stats, context.table)); }

}  // namespace gapscope
