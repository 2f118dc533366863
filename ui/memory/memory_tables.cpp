#include "ui/memory/memory_tables.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/analyze/memory/memory_columns.h"
#include "core/view/document.h"
#include "core/view/memory/allocation_stack.h"
#include "core/view/memory/held_memory.h"
#include "core/view/memory/memory_state.h"
#include "ui/widgets/column_grid.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/row_menu.h"

namespace gapscope {
namespace {

// Which table is shown, and what is done with its rows.
void draw_list_choice(TraceView& view, const WindowState& window, const TableRows& table,
                      const std::vector<std::uint32_t>& rows, Requests& out) {
  const std::array<Choice, 2> lists{
      {{"At the peak", "The owners of memory at the peak."},
       {view.range ? "Allocated in the range" : "Allocated", "The owners of all allocations, freed or not."}}};
  view.memory.list =
      static_cast<MemoryState::List>(draw_choice("list", lists, static_cast<std::size_t>(view.memory.list), window));
  ImGui::SameLine(0, 14 * window.frame.scale);
  draw_csv_buttons(
      ".memory.csv", [&] { return csv_of(table, rows); }, out);
}

}  // namespace

void draw_holders(const Document& document, const MemoryDevice& device, TraceView& view, WindowState& window, Requests& out) {
  ask(document, HeldQuestion{device.device_type, device.device, device.peak}, out);
  const auto held = answer_to<HeldQuestion>(document);
  TableLook& look = view.memory.held_look;
  const HeldMemory nothing;
  const HeldRows table = held_rows(document.trace, held ? *held : nothing);
  const std::vector<std::uint32_t> rows = arrange(table, look);
  draw_list_choice(view, window, table, rows, out);
  if (!held) return draw_absence(window, "Searching the owners of the memory...");
  if (!held->states_addresses)
    return draw_absence(window, "No addresses are recorded of this memory: who holds it is not known. See Allocated.");
  const GridClick click = draw_column_grid({"holders", table, rows, look}, window);
  if (const std::optional<std::size_t> at = draw_row_menu_for(click, rows.size())) {
    const HeldRow& row = held->rows[rows[*at]];
    const std::string name = held_name(document.trace, row);
    draw_row_menu({name, row.slices.size()}, document, view, window, out,
                  [&] { return list_of_slices(document.trace, name, row.slices); });
  }
  if (click.row < 0) return;
  const HeldRow& row = held->rows[rows[static_cast<std::size_t>(click.row)]];
  if (row.of == HeldRow::Of::before) return;
  view.memory.chosen = row.allocations;
  // From what asked for the largest on.
  std::vector<SliceId> slices = row.slices;
  const auto largest = std::max_element(row.allocations.begin(), row.allocations.end(),
                                        [](const Allocation& a, const Allocation& b) { return a.bytes < b.bytes; });
  const auto first =
      largest == row.allocations.end() ? slices.end() : std::find(slices.begin(), slices.end(), asked_by(document, *largest));
  if (first != slices.end()) std::rotate(slices.begin(), first, slices.end());
  if (!slices.empty()) walk_cycle(view, {held_name(document.trace, row), std::move(slices)});
}

void draw_operators(const Document& document, TraceView& view, WindowState& window, const MemoryUse& use,
                    const MemoryDevice& device, Requests& out) {
  const Trace& trace = document.trace;
  TableLook& look = view.memory.look;
  const MemoryRows table = memory_rows(trace, use);
  std::vector<std::uint32_t> rows = arrange(table, look);
  std::erase_if(rows, [&](std::uint32_t row) {
    return use.operators[row].device_type != device.device_type || use.operators[row].device != device.device;
  });
  draw_list_choice(view, window, table, rows, out);
  const auto slices_of = [&](const MemoryOperator& op) {
    std::vector<SliceId> slices;
    for (const SliceId s : document.names.slices_named(op.name))
      if (trace.kind(s) == Kind::op) slices.push_back(s);
    return slices;
  };
  const GridClick click = draw_column_grid({"operators", table, rows, look}, window);
  if (const std::optional<std::size_t> at = draw_row_menu_for(click, rows.size())) {
    const MemoryOperator& op = use.operators[rows[*at]];
    const std::string name(memory_operator_name(trace, op));
    const std::vector<SliceId> slices = op.name ? slices_of(op) : std::vector<SliceId>{};
    draw_row_menu({name, slices.size()}, document, view, window, out, [&] { return list_of_slices(trace, name, slices); });
  }
  if (click.row < 0) return;
  const MemoryOperator& op = use.operators[rows[static_cast<std::size_t>(click.row)]];
  if (op.name) walk_cycle(view, {std::string(trace.strings[op.name]), slices_of(op)});
}

}  // namespace gapscope
