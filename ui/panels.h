#pragma once
// The tabs of the bottom area: one table. A panel is a small function that draws into the current ImGui window.
#include <span>
#include <string_view>

#include "core/view/document.h"
#include "core/view/view_state.h"
#include "ui/requests.h"

namespace gapscope {

using DrawPanel = void (*)(const Document&, ViewState&, Requests&);

struct Panel {
  const char* id;       // stable word: "details"
  const char* title;    // on the tab
  const char* tooltip;  // one sentence
  DrawPanel draw;
};

std::span<const Panel> panels();
// Opens the bottom area at this tab.
void show_panel(ViewState& view, std::string_view id);
bool is_panel_shown(const ViewState& view, std::string_view id);
// Shows these places in the tab "List".
void open_list(ViewState& view, ResultList list);
// After an area was marked: the tab "Selection" comes up in place of the details; other tabs stay.
void show_area_tab(ViewState& view);
// After a slice was selected: the details come up, unless the tab in front is pinned or there is no room for panels.
void show_details_of_selection(ViewState& view);

void draw_details(const Document& document, ViewState& view, Requests& out);
// What Details shows of the chosen gap; and of no selection, where there is an account.
void draw_gap_details(const Document& document, ViewState& view);
void draw_account_details(const Document& document, ViewState& view);
bool has_account(const Document& document);
void draw_selection(const Document& document, ViewState& view, Requests& out);
void draw_list(const Document& document, ViewState& view, Requests& out);
void draw_table(const Document& document, ViewState& view, Requests& out);
void draw_kernels(const Document& document, ViewState& view, Requests& out);
void draw_steps(const Document& document, ViewState& view, Requests& out);
void draw_gpu(const Document& document, ViewState& view, Requests& out);
void draw_memory(const Document& document, ViewState& view, Requests& out);
void draw_flame(const Document& document, ViewState& view, Requests& out);
void draw_compare(const Document& document, ViewState& view, Requests& out);
void draw_notes_panel(const Document& document, ViewState& view, Requests& out);
void draw_report(const Document& document, ViewState& view, Requests& out);

}  // namespace gapscope
