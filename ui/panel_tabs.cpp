#include "ui/panel_tabs.h"

#include <algorithm>
#include <cmath>
#include <optional>
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
constexpr float kLeastPadding = 4;      // px at scale 1 next to a title: with less the row reads as one sentence

// Positions of the tabs that are shown, in their order: in a narrow window without those that are empty, but for the one in
// front.
struct ShownTabs {
  std::vector<std::size_t> tabs;
  bool captions = false;  // there is room for the words of the groups
  float padding = 0;      // px next to each title; below 0 not even the bare titles fit: Dear ImGui would cut them
};
ShownTabs shown_tabs(const Document& document, const TraceView& view, const WindowState& window, bool all, bool captions,
                     float gap) {
  ShownTabs shown;
  shown.captions = captions;
  float titles = ImGui::GetFrameHeight();  // the pin
  std::size_t items = 1;
  for (const char* group : kPanelGroups) {
    if (captions) titles += ImGui::CalcTextSize(group).x + ImGui::CalcTextSize(":").x, ++items;
  }
  for (const std::size_t i : tabs_in_order()) {
    if (!all && i != window.tab && !what_would_fill(panels()[i], document, view, window).empty()) continue;
    shown.tabs.push_back(i);
    titles += ImGui::CalcTextSize(panels()[i].title).x;
  }
  const float each = (ImGui::GetContentRegionAvail().x - titles) / static_cast<float>(shown.tabs.size() + items);
  shown.padding = std::min(std::floor(each - gap - 1) / 2, ImGui::GetStyle().FramePadding.x);
  return shown;
}

// The fullest of them that fits.
ShownTabs fitting_tabs(const Document& document, const TraceView& view, const WindowState& window, float gap) {
  ShownTabs shown = shown_tabs(document, view, window, /*all=*/true, /*captions=*/true, gap);
  const float least = kLeastPadding * window.frame.scale;
  if (shown.padding < least) shown = shown_tabs(document, view, window, /*all=*/true, /*captions=*/false, gap);
  if (shown.padding < least) shown = shown_tabs(document, view, window, /*all=*/false, /*captions=*/false, gap);
  return shown;
}

void draw_caption(PanelGroup group, const Theme& theme, WindowState& window) {
  for (const ImGuiCol part : {ImGuiCol_Tab, ImGuiCol_TabHovered, ImGuiCol_TabActive}) ImGui::PushStyleColor(part, ImVec4{});
  ImGui::PushStyleColor(ImGuiCol_Text, colour(theme.muted, kEmptyTabAlpha));
  const std::string id =
      std::string(kPanelGroups[static_cast<std::size_t>(group)]) + ":###group" + std::to_string(static_cast<int>(group));
  if (ImGui::TabItemButton(id.c_str(), ImGuiTabItemFlags_NoTooltip)) {
    for (const std::size_t i : tabs_in_order()) {
      if (group_of(panels()[i]) != group) continue;
      show_panel(window, panels()[i].id);
      break;
    }
  }
  ImGui::PopStyleColor(4);
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
  draw_hover(window.tab_pinned ? "Let the details come up again when a slice is selected."
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
  std::optional<PanelGroup> group;
  for (const std::size_t i : shown.tabs) {
    if (shown.captions && group != group_of(table[i])) draw_caption(*(group = group_of(table[i])), theme, window);
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
  draw_pin(theme, window);
  ImGui::EndTabBar();
  pop();
}

}  // namespace gapscope
