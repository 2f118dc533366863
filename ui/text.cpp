#include "ui/text.h"

#include <algorithm>
#include <cfloat>
#include <string>

namespace gapscope {
namespace {

constexpr float kHair = 0.5f;  // px: a column made for this very text holds it
constexpr float kTooltipWidth = 36;  // in line heights: about 60 letters, the comfortable measure

void draw_plain(std::string_view text) { ImGui::TextUnformatted(text.data(), text.data() + text.size()); }

void underline_last_item(Rgb rgb) {
  const ImVec2 low = ImGui::GetItemRectMin();
  const ImVec2 high = ImGui::GetItemRectMax();
  ImGui::GetWindowDrawList()->AddLine({low.x, high.y}, high, colour(rgb));
}

// Not rounded up to a pixel, as ImGui::CalcTextSize() is: words add up to their line.
float exact_width(std::string_view text) {
  return ImGui::GetFont()->CalcTextSizeA(ImGui::GetFontSize(), FLT_MAX, 0, text.data(), text.data() + text.size()).x;
}

// How much of a word that is wider than a line goes into one: up to a place where names may part.
std::size_t part_that_fits(std::string_view word, float width) {
  for (std::size_t at = word.find_last_of("_:,/"); at != word.npos && at > 0; at = word.find_last_of("_:,/", at - 1))
    if (exact_width(word.substr(0, at + 1)) <= width) return at + 1;
  return word.size();
}

// Lines broken at spaces only. Dear ImGui also breaks after a full stop, which tears "1.46 ms" apart; it stays in charge
// of words that are too long for a line and offer no place to part.
std::string broken_into_lines(std::string_view text, float width) {
  std::string out;
  float used = 0;
  const float space = exact_width(" ");
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
    std::string_view word = text.substr(0, end);
    float wide = exact_width(word);
    if (used > 0 && used + wide > width + kHair) {
      out.back() = '\n';  // the space before the word
      used = 0;
    }
    for (std::size_t part = 0; wide > width && (part = part_that_fits(word, width)) < word.size();) {
      out.append(word.substr(0, part)) += '\n';
      word.remove_prefix(part);
      wide = exact_width(word);
    }
    out += word;
    if (end == text.size()) break;
    out += text[end];
    used = text[end] == '\n' ? 0 : used + wide + space;
    text.remove_prefix(end + 1);
  }
  return out;
}

void draw_wrapped(std::string_view text, float width) {
  ImGui::PushTextWrapPos(0);
  draw_plain(broken_into_lines(text, width));
  ImGui::PopTextWrapPos();
}

}  // namespace

void draw_text(Face face, Rgb rgb, std::string_view text, bool wrap) {
  push_face(face);
  ImGui::PushStyleColor(ImGuiCol_Text, colour(rgb));
  if (wrap)
    draw_wrapped(text, ImGui::GetContentRegionAvail().x);
  else
    draw_plain(text);
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
