#include "ui/start/folder_rows.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/text.h"
#include "ui/app_ui.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

constexpr float kShareBarPx = 48;

}  // namespace

void draw_summary(const RunSummary& summary, const Theme& theme, float scale, ImVec2 low, ImVec2 high) {
  const float line = ImGui::GetTextLineHeight(), bar = kShareBarPx * scale, gap = ImGui::GetStyle().ItemSpacing.x;
  const ImVec2 at{low.x + gap, high.y - line};
  const std::string limit = summary.limit.empty() ? "being read ..."
                            : summary.failed      ? "does not open"
                                                  : printable(summary.limit);
  const std::string step = summary.step > 0 ? ", " + format_duration(summary.step) + " a step" : "";
  // The words are cut where there is no room, never the number.
  const float room = high.x - at.x - bar - gap - text_width(Face::sans, step);
  const std::string shown = elide_middle(limit, static_cast<std::size_t>(std::max(1.0f, room / text_width(Face::sans, "n"))));
  ImGui::SetCursorScreenPos(at);
  draw_text(Face::sans, theme.muted, shown + step);
  const bool is_hovered = ImGui::IsMouseHoveringRect(low, high);
  if (is_hovered && (summary.failed || shown != limit)) draw_tooltip(low, high, printable(summary.limit));
  if (!summary.gpu_share) return;
  const ImVec2 from{high.x - bar, at.y + line / 3}, to{high.x, at.y + 2 * line / 3};
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddRectFilled(from, to, colour(theme.line));
  draw.AddRectFilled(from, {from.x + bar * static_cast<float>(*summary.gpu_share), to.y}, colour(theme.good));
  if (ImGui::IsMouseHoveringRect({from.x, at.y}, high))
    draw_tooltip(low, high, "GPU busy " + format_percent(*summary.gpu_share));
}

void put_in_order(std::vector<const FolderEntry*>& entries, StartFields::Order order) {
  if (order == StartFields::Order::name) return;
  const auto key = [&](const FolderEntry* entry) {
    if (entry->is_folder) return -std::numeric_limits<double>::infinity();
    if (order == StartFields::Order::step) return entry->summary ? -static_cast<double>(entry->summary->step) : 0.0;
    return entry->summary ? entry->summary->gpu_share.value_or(2) : 2.0;
  };
  std::stable_sort(entries.begin(), entries.end(), [&](const auto* a, const auto* b) { return key(a) < key(b); });
}

void draw_order(StartFields& fields, const Theme& theme) {
  constexpr std::pair<StartFields::Order, const char*> kOrders[] = {
      {StartFields::Order::name, "name"}, {StartFields::Order::step, "longest step"}, {StartFields::Order::gpu, "idle GPU"}};
  draw_text(Face::sans, theme.muted, "By");
  for (const auto& [order, title] : kOrders) {
    ImGui::SameLine();
    const bool is_used = fields.order == order;
    if (draw_link(Face::sans, is_used ? theme.text : theme.accent, title)) fields.order = order;
  }
}

}  // namespace gapscope
