#include "ui/panel_tabs.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <imgui.h>

#include "core/view/answers.h"
#include "core/view/document.h"
#include "core/view/overview/overview_model.h"
#include "ui/panels.h"
#include "ui/widgets/text.h"
#include "ui/widgets/theme.h"

namespace gapscope {
namespace {

constexpr float kEmptyTabAlpha = 0.8f;  // alpha of what has nothing to show: contrast 3 at least, in both themes
constexpr const char* kMore = "More...";
constexpr float kLeastPadding = 4;  // px at scale 1 next to a title: with less the row reads as one sentence

// The tabs that are shown, in the order of the table: the main ones, those used before, the one in front. Of those used the
// ones opened longest ago go where there is no room.
struct ShownTabs {
  std::vector<std::size_t> tabs;
  float padding = 0;  // px next to each title; below 0 not even the bare titles fit: Dear ImGui would cut them
};
ShownTabs shown_tabs(const Document& document, const TraceView& view, const WindowState& window, std::size_t left_out,
                     float gap) {
  ShownTabs shown;
  float titles = ImGui::GetFrameHeight() + ImGui::CalcTextSize(kMore).x;  // the pin
  for (std::size_t i = 0; i < panels().size(); ++i) {
    const auto used = std::find(window.tabs_used.begin(), window.tabs_used.end(), i);
    const bool is_used =
        used != window.tabs_used.end() && used - window.tabs_used.begin() >= static_cast<std::ptrdiff_t>(left_out);
    if (i != window.tab && !is_used && !is_main(i, document, view, window)) continue;
    // The answer first.
    shown.tabs.insert(std::string_view(panels()[i].id) == "answer" ? shown.tabs.begin() : shown.tabs.end(), i);
    titles += ImGui::CalcTextSize(panels()[i].title).x;
  }
  const float each = (ImGui::GetContentRegionAvail().x - titles) / static_cast<float>(shown.tabs.size() + 2);
  shown.padding = std::min(std::floor(each - gap - 1) / 2, ImGui::GetStyle().FramePadding.x);
  return shown;
}

ShownTabs fitting_tabs(const Document& document, const TraceView& view, const WindowState& window, float gap) {
  ShownTabs shown;
  for (std::size_t left_out = 0; left_out <= window.tabs_used.size(); ++left_out) {
    shown = shown_tabs(document, view, window, left_out, gap);
    if (shown.padding >= kLeastPadding * window.frame.scale) break;
  }
  return shown;
}

// A menu of the tabs that are not in the row, then of those that were put there.
void draw_more(const ShownTabs& shown, const Document& document, const TraceView& view, WindowState& window) {
  const bool opens = ImGui::TabItemButton(kMore, ImGuiTabItemFlags_NoTooltip);
  const ImVec2 low = ImGui::GetItemRectMin();
  draw_hover("The other tabs. An opened tab stays in the row.");
  if (opens) ImGui::OpenPopup("more tabs");
  std::vector<std::size_t>& used = window.tabs_used;
  // Above the row; over it where that is not room enough.
  const auto rows = static_cast<float>(panels().size() - shown.tabs.size() + used.size() + 1);
  const float height = rows * ImGui::GetTextLineHeightWithSpacing() + 2 * ImGui::GetStyle().WindowPadding.y;
  ImGui::SetNextWindowPos({low.x, std::max(low.y, height)}, ImGuiCond_Appearing, {0, 1});
  if (!ImGui::BeginPopup("more tabs")) return;
  const auto item = [&](std::size_t i, bool in_row) {
    const Panel& panel = panels()[i];
    const std::string_view missing = what_would_fill(panel, document, view, window);
    if (!missing.empty()) ImGui::PushStyleColor(ImGuiCol_Text, colour(theme_of(window).muted, kEmptyTabAlpha));
    const bool clicked = ImGui::MenuItem(panel.title, nullptr, in_row);
    if (!missing.empty()) ImGui::PopStyleColor();
    draw_hover(missing.empty() ? std::string(panel.tooltip) : std::string(panel.tooltip) + "\nEmpty. " + std::string(missing));
    if (clicked && in_row) used.erase(std::remove(used.begin(), used.end(), i), used.end());
    if (clicked && !in_row) show_panel(window, panel.id);
  };
  const auto is_shown = [&](std::size_t i) { return std::find(shown.tabs.begin(), shown.tabs.end(), i) != shown.tabs.end(); };
  for (std::size_t i = 0; i < panels().size(); ++i)
    if (!is_shown(i)) item(i, /*in_row=*/false);
  const std::vector<std::size_t> before = used;
  if (!before.empty()) ImGui::Separator();
  for (const std::size_t i : before)
    if (is_shown(i) && i != window.tab) item(i, /*in_row=*/true);
  ImGui::EndPopup();
}

// A pin, filled while it holds.
void draw_pin(const Theme& theme, WindowState& window) {
  if (ImGui::TabItemButton("  ###pin", ImGuiTabItemFlags_Trailing | ImGuiTabItemFlags_NoTooltip))
    window.tab_pinned = !window.tab_pinned;
  const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
  const ImVec2 middle{(low.x + high.x) / 2, (low.y + high.y) / 2};
  const float r = std::round(3.5f * window.frame.scale);
  const ImU32 ink = colour(window.tab_pinned ? theme.accent : theme.muted);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  if (window.tab_pinned)
    list.AddCircleFilled({middle.x, middle.y - r}, r, ink);
  else
    list.AddCircle({middle.x, middle.y - r}, r, ink, 0, window.frame.scale);
  list.AddLine({middle.x, middle.y}, {middle.x, middle.y + 2 * r}, ink, window.frame.scale);
  draw_hover(window.tab_pinned ? "Show the details when a slice is selected."
                               : "Keep this tab in front when a slice is selected.");
}

// True while it is open.
bool draw_tab(const Panel& panel, const Document& document, bool chosen, const TraceView& view, WindowState& window) {
  const std::string_view missing = what_would_fill(panel, document, view, window);
  if (!missing.empty()) ImGui::PushStyleColor(ImGuiCol_Text, colour(theme_of(window).muted, kEmptyTabAlpha));
  const bool is_open = ImGui::BeginTabItem(panel.title, nullptr, chosen ? ImGuiTabItemFlags_SetSelected : 0);
  if (!missing.empty()) ImGui::PopStyleColor();
  // Before the content: after it the last item is the content, and the tab's tooltip would come up there.
  if (ImGui::IsItemClicked()) window.tab_wanted = true;
  if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(0)) toggle_full(window);
  draw_hover(missing.empty() ? std::string(panel.tooltip) : std::string(panel.tooltip) + "\nEmpty. " + std::string(missing));
  return is_open;
}

}  // namespace

void draw_tabs(const Document& document, TraceView& view, WindowState& window, bool only_tabs, Requests& out) {
  const auto table = panels();
  const Theme& theme = theme_of(window);
  const ImVec2 padding = ImGui::GetStyle().FramePadding, inner_before = ImGui::GetStyle().ItemInnerSpacing;
  const ImVec2 inner{std::round(3 * window.frame.scale), ImGui::GetStyle().ItemInnerSpacing.y};
  // It says whether some tabs have anything to show, also while none is open.
  if (document.diagnosis() && !document.trace.is_part) ask(document, OverviewQuestion{}, out);
  const ShownTabs shown = fitting_tabs(document, view, window, inner.x);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {std::max(0.0f, shown.padding), padding.y});
  ImGui::PushStyleVar(ImGuiStyleVar_ItemInnerSpacing, inner);
  // With the tabs alone none has its page open.
  const ImVec4 open_tab = ImGui::GetStyleColorVec4(only_tabs ? ImGuiCol_Tab : ImGuiCol_TabActive);
  for (const ImGuiCol part : {ImGuiCol_TabActive, ImGuiCol_TabUnfocusedActive}) ImGui::PushStyleColor(part, open_tab);
  const ImGuiTabBarFlags flags = shown.padding < 0 ? ImGuiTabBarFlags_FittingPolicyScroll : ImGuiTabBarFlags_None;
  const auto pop = [] { ImGui::PopStyleColor(2), ImGui::PopStyleVar(2); };
  if (!ImGui::BeginTabBar("panels", flags)) return pop();
  const bool forces = std::exchange(window.signals.select_tab, false);  // a panel may ask for another tab while it is drawn
  const std::size_t wanted = window.tab;
  for (const std::size_t i : shown.tabs) {
    if (!draw_tab(table[i], document, forces && i == wanted, view, window)) continue;
    if (!forces) window.tab = i;
    if (!only_tabs) {
      ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, padding);
      ImGui::PushStyleVar(ImGuiStyleVar_ItemInnerSpacing, inner_before);
      ImGui::BeginChild(table[i].id, {0, 0});
      table[i].draw(document, view, window, out);
      ImGui::EndChild();
      ImGui::PopStyleVar(2);
    }
    ImGui::EndTabItem();
  }
  draw_more(shown, document, view, window);
  draw_pin(theme, window);
  ImGui::EndTabBar();
  pop();
  std::vector<std::size_t>& used = window.tabs_used;
  if (window.tab >= kMainPanels && std::find(used.begin(), used.end(), window.tab) == used.end()) used.push_back(window.tab);
}

}  // namespace gapscope
