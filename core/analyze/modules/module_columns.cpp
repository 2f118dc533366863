#include "core/analyze/modules/module_columns.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/text.h"

namespace gapscope {
namespace {

using Context = ModuleContext;
using Line = ModuleLine;
using Totals = ModuleTotals;

constexpr std::uint32_t kMostIndent = 12;  // levels

const ModuleRow& instance(const Context& of, const Line& line) {
  return of.use.rows[of.list == ModuleList::tree ? of.use.tree[line.row].row : line.row];
}
std::uint32_t depth(const Context& of, const Line& line) {
  return of.list == ModuleList::tree ? of.use.tree[line.row].depth : 0;
}

template <auto Member>
CellValue total(const Context&, const Line& line) {
  return line.totals.*Member;
}

CellText name_text(const Context& of, const Line& line) {
  const std::string name = printable(name_of(of.use, of.list, line.row));
  return {std::string(2 * std::size_t{std::min(depth(of, line), kMostIndent)}, ' ') + name, name};
}

CellValue share_of_gpu(const Context& of, const Line& line) {
  return of.use.linked > 0 ? static_cast<double>(line.totals.gpu()) / static_cast<double>(of.use.linked) : 0.0;
}
CellText share_text(const Context& of, const Line& line) {
  if (of.use.linked <= 0) return {};
  const double share = share_of_gpu(of, line).number();
  return {format_percent(share), {}, static_cast<float>(share)};
}

CellValue rate(const Context&, const Line& line) {
  return line.totals.flops_time > 0 ? CellValue(line.totals.flops_per_second() / 1e12) : CellValue();
}
CellText rate_text(const Context& of, const Line& line) {
  return {display(rate(of, line), Quantity::real),
          fmt::format("{} of GPU work, {:.4g} operations", format_duration(line.totals.flops_time),
                      static_cast<double>(line.totals.flops)),
          0, line.totals.flops_time == 0};
}

template <auto Member>
CellText bytes_text(const Context&, const Line& line) {
  const std::int64_t bytes = line.totals.*Member;
  return {bytes > 0 ? format_bytes(static_cast<std::uint64_t>(bytes)) : "-", format_count(bytes) + " bytes", 0, bytes == 0};
}

void parents_json(const Context& of, const Line& line, nlohmann::ordered_json& out) {
  out = nlohmann::ordered_json::array();
  for (const std::uint32_t parent : instance(of, line).parents) out.push_back(of.use.rows[parent].name);
}

using enum Quantity;
constexpr std::uint8_t kShown = kInGrid | kInCsv | kInText;

using TableColumn = ColumnOf<Line, Context>;
constexpr TableColumn kColumns[] = {
    TableColumn(
        "name", "Name", "The module or region.", text,
        [](const Context& of, const Line& line) -> CellValue { return name_of(of.use, of.list, line.row); },
        {.csv = "Name", .text = 48}, name_text),
    TableColumn("class", "Class", "The class of the module.", text,
                [](const Context& of, const Line& line) -> CellValue {
                  return of.list == ModuleList::classes ? of.use.classes[line.row].name : instance(of, line).class_name;
                },
                {.in = kInJson}),
    TableColumn("instances", "Instances", "Of the class.", count,
                [](const Context& of, const Line& line) -> CellValue {
                  return of.list == ModuleList::classes ? CellValue(of.use.classes[line.row].instances) : CellValue();
                },
                {.in = kInJson}),
    TableColumn(
        "parents", "Parents", "Directly around it.", text, [](const Context&, const Line&) -> CellValue { return {}; },
        {.in = kInJson}, nullptr, parents_json),
    TableColumn("parent", "Parent", "The row above it in the tree.", id,
                [](const Context& of, const Line& line) -> CellValue {
                  const std::uint32_t parent =
                      of.list == ModuleList::tree ? of.use.tree[line.row].parent : ModuleNode::kNoParent;
                  return parent == ModuleNode::kNoParent ? CellValue() : CellValue(parent);
                },
                {.in = kInJson}),
    TableColumn("depth", "Depth", "Levels above it in the tree.", count,
                [](const Context& of, const Line& line) -> CellValue { return depth(of, line); },
                {.in = kInCsv | kInJson, .csv = "Depth"}),
    TableColumn("calls", "Calls", "How often it was entered.", count, total<&Totals::calls>, {.csv = "Calls", .text = 7}),
    TableColumn("host", "Host", "How long the CPU was in it; calls of itself in itself count once.", ns, total<&Totals::host>,
                {.csv = "Host (ns)", .text = 10, .spare = 1}),
    TableColumn("forward_gpu", "GPU forward", "The GPU work that was launched in it, recomputed activations too.", ns,
                total<&Totals::forward>,
                {.csv = "Forward GPU (ns)", .text = 10, .head = "GPU fwd.", .chars = 13, .sorted = true}),
    TableColumn("backward_gpu", "GPU backward", "The GPU work of its operators' backward.", ns, total<&Totals::backward>,
                {.csv = "Backward GPU (ns)", .text = 10, .head = "GPU bwd.", .chars = 14}),
    TableColumn("self_forward_gpu", "Self fwd.", "Where it is the innermost module.", ns, total<&Totals::self_forward>,
                {.csv = "Self forward GPU (ns)", .text = 10, .spare = 4}),
    TableColumn("self_backward_gpu", "Self bwd.", "Likewise of backward.", ns, total<&Totals::self_backward>,
                {.csv = "Self backward GPU (ns)", .text = 10, .spare = 5}),
    TableColumn("share", "Share", "Of all linked GPU work.", share, share_of_gpu,
                {.in = kInGrid | kInText, .text = 8, .head = "of GPU"}, share_text),
    TableColumn("kernels", "Kernels", "Among that work.", count, total<&Totals::kernels>,
                {.csv = "Kernels", .text = 8, .spare = 3}),
    TableColumn("rate", "TFLOP/s",
                "Of the operators in it whose shapes are recorded and whose work is known, while their kernels ran.", real,
                rate, {.in = kInGrid | kInText, .text = 8, .head = "TFLOP/s", .chars = 9}, rate_text),
    TableColumn("flops", "FLOPs", "Operations, by these shapes.", count, total<&Totals::flops>, {.in = kInCsv, .csv = "FLOPs"}),
    TableColumn("flops_gpu", "FLOP time", "GPU time of these.", ns, total<&Totals::flops_time>,
                {.in = kInCsv, .csv = "GPU time of these (ns)"}),
    TableColumn("allocated", "Allocated", "GPU memory asked for in it, forward and backward; freed or not.", bytes,
                total<&Totals::allocated>, {.in = kShown, .csv = "Allocated (bytes)", .text = 10, .spare = 2},
                bytes_text<&Totals::allocated>),
    TableColumn("at_peak", "At peak", "Of that, what was still in use when the GPU held most.", bytes, total<&Totals::at_peak>,
                {.in = kShown, .csv = "At peak (bytes)", .text = 10, .spare = 6}, bytes_text<&Totals::at_peak>),
};

std::size_t size_of(const ModuleUse& use, ModuleList list) {
  return list == ModuleList::tree ? use.tree.size() : list == ModuleList::instances ? use.rows.size() : use.classes.size();
}

}  // namespace

ModuleLine ModuleLines::operator()(std::size_t row) const {
  const auto at = static_cast<std::uint32_t>(row);
  if (list == ModuleList::tree) return {at, use.tree[row].totals};
  return {at, list == ModuleList::instances ? use.rows[row].totals : use.classes[row].totals};
}

ModuleRows module_rows(const ModuleUse& use, ModuleList list) {
  ModuleRows table(kColumns, {use, list}, size_of(use, list), {use, list});
  const bool is_tree = list == ModuleList::tree, is_classes = list == ModuleList::classes;
  if (is_classes) table.leave_out("name", kInJson);
  if (is_tree) table.leave_out("class");
  if (!is_classes) table.leave_out("instances");
  if (is_classes || is_tree) table.leave_out("parents");
  if (!is_tree) table.leave_out("parent"), table.leave_out("depth", kInJson);
  if (use.memory.allocations == 0) table.leave_out("allocated", kInGrid | kInText);
  if (!use.memory.knows_peak) table.leave_out("at_peak", kInGrid | kInText);
  return table;
}

std::string name_of(const ModuleUse& use, ModuleList list, std::uint32_t row) {
  if (list == ModuleList::tree) return use.rows[use.tree[row].row].name;
  if (list == ModuleList::instances) return use.rows[row].name;
  return fmt::format("{} ({})", use.classes[row].name, use.classes[row].instances);
}

}  // namespace gapscope
