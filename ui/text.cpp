#include "ui/text.h"

namespace gapscope {
namespace {

constexpr float kTooltipWidth = 36;  // in line heights: about 60 letters, the comfortable measure

void draw_plain(std::string_view text) { ImGui::TextUnformatted(text.data(), text.data() + text.size()); }

void underline_last_item(Rgb rgb) {
  const ImVec2 low = ImGui::GetItemRectMin();
  const ImVec2 high = ImGui::GetItemRectMax();
  ImGui::GetWindowDrawList()->AddLine({low.x, high.y}, high, colour(rgb));
}

}  // namespace

void draw_text(Face face, Rgb rgb, std::string_view text, bool wrap) {
  push_face(face);
  ImGui::PushStyleColor(ImGuiCol_Text, colour(rgb));
  if (wrap) ImGui::PushTextWrapPos(0);
  draw_plain(text);
  if (wrap) ImGui::PopTextWrapPos();
  ImGui::PopStyleColor();
  pop_face();
}

void draw_text_right(Face face, Rgb rgb, std::string_view text) {
  const float free = ImGui::GetContentRegionAvail().x - text_width(face, text);
  if (free > 0) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + free);
  draw_text(face, rgb, text);
}

bool draw_link(Face face, Rgb rgb, std::string_view text, bool wrap) {
  draw_text(face, rgb, text, wrap);
  if (!ImGui::IsItemHovered()) return false;
  ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  underline_last_item(rgb);
  return ImGui::IsMouseClicked(ImGuiMouseButton_Left);
}

float text_width(Face face, std::string_view text) {
  push_face(face);
  const float width = ImGui::CalcTextSize(text.data(), text.data() + text.size()).x;
  pop_face();
  return width;
}

void draw_hover(std::string_view text) {
  if (text.empty() || !ImGui::IsItemHovered()) return;
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(ImGui::GetFontSize() * kTooltipWidth);
  draw_plain(text);
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

}  // namespace gapscope
