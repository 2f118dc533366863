#include "ui/widgets/row_menu.h"

#include <algorithm>

#include "core/analyze/kernel_name/shown_name.h"
#include "core/base/demangle.h"
#include "core/base/text.h"
#include "core/view/document.h"
#include "core/view/selection/area_model.h"
#include "core/view/source_place.h"
#include "core/view/timeline/time_view.h"
#include "ui/panels.h"
#include "ui/whatif/whatif_panel.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

constexpr const char* kMenu = "row menu";

bool item(const char* title, const char* help, bool enabled = true) {
  const bool chosen = ImGui::MenuItem(title, nullptr, false, enabled);
  draw_hover(help);
  return chosen;
}

void zoom_to(const ListPlace& place, const Document& document, TraceView& view, WindowState& window) {
  if (place.slice) select_slice(view, place.slice, /*reveal=*/true);
  if (place.lane) view.signals.reveal_lane = place.lane;
  go_to(view, window, focused_on(place.span, axis_reach(view, document.trace.span)));
}

void find_all(TraceView& view, std::string_view name_in_file) {
  view.search.typed = {pattern_of_name(name_in_file), true};
  view.cycle = {};
}

void filter_by(TraceView& view, WindowState& window, const Trace& trace, SliceId slice) {
  const bool work = is_gpu_work(trace.kind(slice));
  (work ? view.kernels.look : view.table.look).filter = shown_name(trace, slice);
  jump_to_panel(view, window, work ? "kernels" : "table");
}

// Of the slice, or the innermost Python frame around it or around the call that launched it.
std::optional<SourcePlace> source_place_of(const Document& document, SliceId slice) {
  const SliceId call = document.links.call_of(slice);
  const SliceId from = call ? call : slice;
  if (const auto own = source_place(document.trace.name(from))) return own;
  const std::vector<SliceId> around = document.lanes.ancestors(from);
  for (auto at = around.rbegin(); at != around.rend(); ++at)
    if (const auto place = source_place(document.trace.name(*at))) return place;
  return std::nullopt;
}

}  // namespace

std::optional<std::size_t> draw_row_menu_for(const GridClick& click, std::size_t rows) {
  ImGuiStorage& storage = *ImGui::GetStateStorage();
  const ImGuiID id = ImGui::GetID("row of the menu");
  if (click.menu >= 0) {
    storage.SetInt(id, static_cast<int>(click.menu));
    ImGui::OpenPopup(kMenu);
  }
  const int row = storage.GetInt(id, -1);
  if (row < 0 || static_cast<std::size_t>(row) >= rows || !ImGui::IsPopupOpen(kMenu)) return std::nullopt;
  return static_cast<std::size_t>(row);
}

void draw_row_menu(const RowOfSlices& row, const Document& document, TraceView& view, WindowState& window, Requests& out,
                   const std::function<ResultList()>& list) {
  if (!ImGui::BeginPopup(kMenu)) return;
  const std::string title =
      "List its " + format_count(static_cast<std::int64_t>(row.count)) + (row.count == 1 ? " slice" : " slices");
  if (item(title.c_str(), "Every slice of this row, with lane, begin and duration.")) open_list(view, window, list());
  if (row.work && item("List its GPU work", "Every kernel, copy and fill of this row, also of its backward pass."))
    open_list(view, window, row.work());
  if (item("Go to its longest slice", "Select the longest slice of this row and zoom to it.")) {
    const ResultList all = list();
    const auto longest = std::max_element(all.places.begin(), all.places.end(), [](const ListPlace& a, const ListPlace& b) {
      return a.span.length() < b.span.length();
    });
    if (longest != all.places.end()) zoom_to(*longest, document, view, window);
  }
  if (item("Copy name", "Copy the whole name of this row.")) out.add(CopyText{row.name});
  if (item("Select alike", "Find every slice of this name. The others dim, and Enter goes from one to the next."))
    find_all(view, row.name);
  if (const StringId name = document.trace.strings.find(row.name); name.valid())
    if (const auto named = document.names.slices_named(name); !named.empty())
      draw_what_if_items(choices_for_name(document, *named.begin()), view, window);
  ImGui::EndPopup();
}

void draw_place_menu(const ListPlace& place, const Document& document, TraceView& view, WindowState& window, Requests& out) {
  if (!ImGui::BeginPopup(kMenu)) return;
  draw_place_items(place, document, view, window, out);
  ImGui::EndPopup();
}

void draw_place_items(const ListPlace& place, const Document& document, TraceView& view, WindowState& window, Requests& out) {
  const Trace& trace = document.trace;
  const bool slice = place.slice.valid();
  if (item("Zoom to it", "Zoom until it fills most of the view.")) zoom_to(place, document, view, window);
  if (item("Copy name", "Copy its whole name.", slice)) out.add(CopyText{std::string(trace.name(place.slice))});
  const std::optional<SourcePlace> source = slice ? source_place_of(document, place.slice) : std::nullopt;
  if (item("Copy file:line", "Copy its file and line, or those of its caller.", source.has_value()))
    out.add(CopyText{place_text(*source)});
  if (item("Open in editor", "Show that line in the editor chosen in View > Editor and sources.", source.has_value()))
    out.add(OpenInEditor{source->file, source->line});
  if (item("Copy as JSON", "Copy its event as it is in the file.", slice)) out.add(CopyEvent{place.slice});
  if (item("Select alike", "Find every slice of this name. The others dim, and Enter goes from one to the next.", slice))
    find_all(view, trace.name(place.slice));
  if (item("Filter by this", "Show only the rows of this name, in the tab of kernels or of operators.", slice))
    filter_by(view, window, trace, place.slice);
  if (item("Mark", "Mark its time on its lane.", place.lane.valid()))
    mark_area(view, {{place.span.begin, std::max(place.span.end, place.span.begin + 1)}, {place.lane}});
  draw_what_if_items(slice ? choices_for_slice(document, place.slice) : choices_for_gap(document, place.lane, place.span), view,
                     window);
  if (item("Save this time as a trace", "Save its time range as a separate trace.", !trace.is_part))
    out.add(SaveCrop{place.span});
}

}  // namespace gapscope
