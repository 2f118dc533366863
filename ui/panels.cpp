#include "ui/panels.h"

#include <array>

namespace gapscope {
namespace {

constexpr auto kPanels = std::to_array<Panel>({
    {"details", "Details", "Everything known about the selected slice.", draw_details},
    {"selection", "Selection", "What lies in the marked area: times by name, category and lane.", draw_selection},
    {"list", "List", "Places that have something in common: what was found, where a finding is, the slices of a table's row.",
     draw_list},
    {"table", "Table", "PyTorch's profiler table: time of every operator, call and kernel.", draw_table},
    {"kernels", "Kernels", "GPU work by name: how often, how long, how even, and what limits it.", draw_kernels},
    {"steps", "Steps", "What the time of each step went into.", draw_steps},
    {"gpu", "GPU", "How busy each GPU was, and why it stood still.", draw_gpu},
    {"memory", "Memory", "Memory over time, its peak, and who asked for it.", draw_memory},
    {"flame", "Flame", "Where the time went by call path, of the marked area or of all.", draw_flame},
    {"compare", "Compare", "What changed from one trace to another.", draw_compare},
    {"notes", "Notes", "Notes and flags of this trace.", draw_notes_panel},
    {"report", "Report", "What was odd about the file, and how it was read.", draw_report},
});

}  // namespace

std::span<const Panel> panels() { return kPanels; }

void show_panel(ViewState& view, std::string_view id) {
  view.sizes.bottom_open = true;
  for (std::size_t i = 0; i < kPanels.size(); ++i) {
    if (kPanels[i].id == id) view.tab = i;
  }
  view.select_tab = true;
}

bool is_panel_shown(const ViewState& view, std::string_view id) {
  return view.sizes.bottom_open && view.tab < kPanels.size() && kPanels[view.tab].id == id;
}

void open_list(ViewState& view, ResultList list) {
  view.list.of = std::make_shared<const ResultList>(std::move(list));
  view.list.filter.clear();
  view.list.order = {};
  show_panel(view, "list");
}

void show_area_tab(ViewState& view) {
  if (is_panel_shown(view, "details") && !view.tab_pinned) show_panel(view, "selection");
}

void show_details_of_selection(ViewState& view) {
  if (view.sizes.bottom_open && !view.tab_pinned && !is_panel_shown(view, "details")) show_panel(view, "details");
}

}  // namespace gapscope
