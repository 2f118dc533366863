#include "core/analyze/gpu/kernel_columns.h"
#include "core/analyze/gpu/occupancy_amd.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/analyze/ncu_command/ncu_command.h"
#include "core/base/demangle.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

using Json = nlohmann::ordered_json;
using Context = KernelContext;
using Row = KernelRow;

std::string counted_text(std::uint64_t n) { return format_count(static_cast<std::int64_t>(n)); }

CellText name_text(const Context& of, const Row& row) {
  std::string whole = printable(demangle(of.trace.strings[row.name]));
  CellText cell{row.decoded.short_name.empty() ? whole : printable(row.decoded.short_name), std::move(whole)};
  for (const KernelFieldValue& field : decoded_fields(row.decoded))
    cell.hover += "\n" + std::string(field_name(field.field)) + ": " + field.value;
  return cell;
}

CellText cv_text(const Context&, const Row& row) {
  if (row.count < 2) return {"-", "It ran once.", 0, true};
  return {display(row.cv, Quantity::ratio)};
}

// ---- Launch shapes

std::string shapes_text(const Row& row) {
  std::string text;
  const auto triple = [](const std::array<std::uint32_t, 3>& v) {
    return std::to_string(v[0]) + " x " + std::to_string(v[1]) + " x " + std::to_string(v[2]);
  };
  for (const ShapeCount& shape : row.shapes)
    text += (text.empty() ? "grid " : "\ngrid ") + triple(shape.grid) + ", block " + triple(shape.block) + ": " +
            counted_text(shape.count);
  return text.empty() ? "The file states no launch shape." : text;
}

template <Extent Row::*Member>
CellValue largest(const Context&, const Row& row) {
  return (row.*Member).empty() ? CellValue() : CellValue((row.*Member).max);
}
template <Extent Row::*Member>
CellText extent_text(const Context&, const Row& row) {
  const Extent& e = row.*Member;
  const auto text = [](std::uint64_t n) { return Member == &Row::shared_memory ? format_bytes(n) : counted_text(n); };
  if (e.empty()) return {"-", shapes_text(row), 0, true};
  return {e.min == e.max ? text(e.min) : text(e.min) + "-" + text(e.max), shapes_text(row)};
}
template <Extent Row::*Member>
void extent_json(const Context&, const Row& row, Json& out) {
  const Extent& e = row.*Member;
  out = e.empty() ? Json(nullptr) : Json{{"min", e.min}, {"max", e.max}};
}

// Every launch shape with how often it occurs.
template <auto Member>
void shapes_json(const Context&, const Row& row, Json& out) {
  std::vector<std::pair<std::array<std::uint32_t, 3>, std::uint64_t>> sums;
  for (const ShapeCount& shape : row.shapes) {
    const auto same = std::find_if(sums.begin(), sums.end(), [&](const auto& s) { return s.first == shape.*Member; });
    if (same == sums.end())
      sums.emplace_back(shape.*Member, shape.count);
    else
      same->second += shape.count;
  }
  out = Json::array();
  for (const auto& [size, count] : sums) out.push_back({{"size", size}, {"count", count}});
}

// ---- Operators

CellValue operator_name(const Context&, const Row& row) {
  if (row.operators.empty() || row.operators.front().name.empty()) return {};
  return row.operators.front().name;
}
CellText operator_text(const Context& of, const Row& row) {
  CellText cell = usual_text(operator_name(of, row), {"", "", "", Quantity::text, {}});
  if (cell.text == "-") cell.text = "not in this trace";
  if (row.operators.size() > 1) cell.text += " +" + std::to_string(row.operators.size() - 1);
  if (!row.operators.empty() && row.operators.front().joined) cell.text += " (joined)";
  return {cell.text, operators_text(row), 0, true};
}
void operators_json(const Context&, const Row& row, Json& out) {
  out = Json::array();
  for (const LaunchingOp& op : row.operators)
    out.push_back({{"name", op.name.empty() ? Json(nullptr) : Json(op.name)}, {"count", op.count}, {"joined", op.joined}});
}

CellValue joined(const Context&, const Row& row) { return !row.operators.empty() && row.operators.front().joined; }

template <std::string CallPlace::*Member>
CellValue place(const Context& of, const Row& row) {
  std::string words = of.links != nullptr ? place_of_kernel(of.trace, *of.links, row).*Member : std::string();
  return words.empty() ? CellValue() : CellValue(std::move(words));
}

// ---- Occupancy, and what only JSON has

CellValue theoretical(const Context& of, const Row& row) {
  const std::optional<Occupancy> fit = occupancy_of(of.trace, row.example);
  return fit ? CellValue(fit->theoretical) : CellValue();
}
void occupancy_json(const Context& of, const Row& row, Json& out) {
  const std::optional<Occupancy> fit = occupancy_of(of.trace, row.example);
  out = {{"theoretical_percent", nullptr}, {"limiters", Json::array()}, {"stated_percent", nullptr}};
  if (row.example.occupancy_percent >= 0) out["stated_percent"] = row.example.occupancy_percent;
  if (!fit) return;
  out["theoretical_percent"] = 100 * fit->theoretical;
  const auto sm = sm_limits(*of.trace.device(row.example.device));
  for (const Limiter limiter : {kByWarps, kByRegisters, kBySharedMemory, kByBlocks})
    if (fit->limiters & limiter) out["limiters"].push_back(limiter_text(*sm, limiter));
  out["active_blocks"] = fit->active_blocks;
  out["active_warps"] = fit->active_warps;
  if (const auto achieved = achieved_percent(*sm, needs_of(row.example), grid_blocks(row.example), OccupancyRule::true_value))
    out["achieved_percent"] = *achieved;
}

CellValue ncu_text(const Context& of, const Row& row) {
  std::optional<NcuCommand> command = of.ncu ? of.ncu->of(row.longest) : std::nullopt;
  return command ? CellValue(std::move(command->command)) : CellValue();
}

void decoded_json(const Context&, const Row& row, Json& out) {
  const KernelName& name = row.decoded;
  out = {{"short_name", name.short_name}};
  for (const KernelFieldValue& field : decoded_fields(name)) {
    Json& value = out[std::string(field_key(field.field))];
    if (field.field == KernelField::fused)
      value = name.fused;
    else if (field.field == KernelField::tensor_core)
      value = *name.tensor_core;
    else
      value = field.value;
  }
  out.erase(std::string(field_key(KernelField::kind)));  // these stand next to this object
  out.erase(std::string(field_key(KernelField::family)));
}

using enum Quantity;
constexpr std::uint8_t kNotOnScreen = kInJson | kInSql;

using TableColumn = ColumnOf<KernelRow, KernelContext>;
constexpr TableColumn kColumns[] = {
    TableColumn(
        "name", "Name", "The kernel, copy or memset, as the file names it.", symbol,
        [](const Context& of, const Row& row) -> CellValue { return of.trace.strings[row.name]; }, {.text = 60}, name_text),
    TableColumn("kind", "Kind", "What it computes, where its name says so.", text,
                [](const Context&, const Row& row) -> CellValue { return kernel_kind_name(row.decoded.kind); },
                {.text = 13, .chars = 13, .spare = 2, .quiet = true}),
    TableColumn("family", "Family", "Who wrote it, where its name says so.", text,
                [](const Context&, const Row& row) -> CellValue { return row.decoded.family; }, {.in = kNotOnScreen}),
    TableColumn("count", "Count", "How often it ran.", count, &field<&Row::count>, {.text = 8, .sum = true}),
    TableColumn("total", "Total", "Sum of its durations.", ns, &field<&Row::total>, {.text = 9, .sorted = true, .sum = true}),
    TableColumn("mean", "Mean", "Total for each run.", mean_ns, &field<&Row::mean>, {.text = 9, .spare = 1}),
    TableColumn("min", "Min", "The shortest run.", ns, &field<&Row::min>, {.text = 9, .hidden = true}),
    TableColumn("median", "Median", "Half of its runs are shorter.", ns, &field<&Row::median>, {.text = 9, .hidden = true}),
    TableColumn("p95", "p95", "95 % of its runs are shorter.", ns, &field<&Row::p95>, {.text = 9, .hidden = true}),
    TableColumn("max", "Max", "The longest run.", ns, &field<&Row::max>, {.text = 9, .spare = 3}),
    TableColumn("cv", "CV", "Coefficient of variation: standard deviation of its durations for each mean. 0 is perfectly even.",
                ratio, &field<&Row::cv>, {.text = 6, .hidden = true}, cv_text),
    TableColumn("share", "Share", "Its total of all GPU work here; work that overlaps counts twice.", share,
                &field<&Row::share>, {.text = 7, .sum = true}),
    TableColumn("registers", "Regs", "Registers of a thread.", count, largest<&Row::registers>, {.hidden = true},
                extent_text<&Row::registers>, extent_json<&Row::registers>),
    TableColumn("shared_memory", "Shared", "Shared memory of a block, static and dynamic.", bytes, largest<&Row::shared_memory>,
                {.key = "shared_memory", .chars = 16, .hidden = true}, extent_text<&Row::shared_memory>,
                extent_json<&Row::shared_memory>),
    TableColumn("grid", "Grid", "Blocks of a launch: all dimensions multiplied.", count, largest<&Row::grid_blocks>,
                {.key = "grids", .chars = 13, .hidden = true}, extent_text<&Row::grid_blocks>, shapes_json<&ShapeCount::grid>),
    TableColumn("block", "Block", "Threads of a block: all dimensions multiplied.", count, largest<&Row::block_threads>,
                {.key = "blocks", .chars = 13, .hidden = true}, extent_text<&Row::block_threads>,
                shapes_json<&ShapeCount::block>),
    TableColumn("other_shapes", "Other shapes", "Runs in further shapes than the 16 most frequent ones.", count,
                &field<&Row::other_shapes>, {.in = kNotOnScreen}),
    TableColumn("operator", "Launched by",
                "The operator that launched most of its runs or, joined, captured the graphs that they are part of.", text,
                operator_name, {.key = "operators", .text = -28, .chars = 24, .spare = 4}, operator_text, operators_json),
    TableColumn("joined", flag, "1 where this operator captured the graphs that its runs are part of, else 0", joined),
    TableColumn("module", "Module", "nn.Module instances around what launched or captured its longest run.", text,
                place<&CallPlace::module>, {.in = kInJson}),
    TableColumn("python", "Python line", "The Python line that launched or captured its longest run.", text,
                place<&CallPlace::python>, {.in = kInJson}),
    TableColumn("occupancy", "Occupancy", "Warps that fit on an SM at a time, of those it can hold.", share, theoretical,
                {.in = kNotOnScreen | kInText, .text = 8, .head = "occup."}, nullptr, occupancy_json),
    TableColumn("ncu", "ncu", "The command that profiles its longest run again.", text, ncu_text, {.in = kInJson}),
    TableColumn(
        "decoded", "Decoded", "What else its name shows.", text, [](const Context&, const Row&) -> CellValue { return {}; },
        {.in = kInJson}, nullptr, decoded_json),
};

}  // namespace

std::span<const ColumnOf<KernelRow, KernelContext>> kernel_columns() { return kColumns; }

KernelRows kernel_rows(const KernelTable& table, const KernelContext& context) {
  return table_of(kernel_columns(), context, table.rows);
}

std::string operators_text(const KernelRow& row) {
  std::string text;
  for (const LaunchingOp& op : row.operators)
    text += (text.empty() ? "" : "\n") + printable(op.name.empty() ? "no operator" : op.name) + "  x " +
            counted_text(op.count) + (op.joined ? ", joined: it captured the graph" : "");
  return text;
}

CallPlace place_of_kernel(const Trace& trace, const LinkIndex& links, const KernelRow& row) {
  const GpuRow* gpu = trace.gpu_row(row.longest);
  const OperatorCall by = gpu != nullptr ? operator_call(trace, links, *gpu) : OperatorCall();
  return by.call ? place_of_call(*by.trace, by.call) : CallPlace();
}

std::optional<Occupancy> occupancy_of(const Trace& trace, const GpuRow& gpu) {
  const DeviceProperties* device = trace.device(gpu.device);
  const auto sm = device && gpu.has_launch_config() ? sm_limits(*device) : std::nullopt;
  return sm ? occupancy(*sm, needs_of(gpu)) : std::nullopt;
}

}  // namespace gapscope
