#include "ui/panels.h"

namespace gapscope {
void show_panel(ViewState& view, std::string_view id) {
  view.sizes.bottom_open = true;
  for (std::size_t i = 0; i < kPanels.size(); ++i) {
    if (kPanels[i].id == id) view.tab = i;
  }
  view.overview_wanted |= id == "overview";
  view.select_tab = true;
}

bool is_panel_shown(const ViewState& view, std::string_view id) {
  return view.sizes.bottom_open && view.tab < kPanels.size() && kPanels[view.tab].id == id;
}

void open_list(ViewState& view, ResultList list) {
  view.active().list.of = std::make_shared<const ResultList>(std::move(list));
  view.active().list.look = {};
  show_panel(view, "list");
}

void show_area_tab(ViewState& view) {
  if ((is_panel_shown(view, "details") || is_panel_shown(view, "overview")) && !view.tab_pinned) show_panel(view, "selection");
}

void show_details_of_selection(ViewState& view) {
  if (view.sizes.bottom_open && !view.tab_pinned && !is_panel_shown(view, "details")) show_panel(view, "details");
}

}  // namespace gapscope
