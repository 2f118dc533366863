#include "ui/widgets/text.h"

#include <algorithm>
#include <array>
#include <cfloat>
#include <string>

#include <imgui_internal.h>

namespace gapscope {
namespace {

constexpr float kHair = 0.5f;        // px: a column made for this very text holds it
constexpr float kTooltipGap = 0.4f;  // of a line's height, between a tooltip and what it explains
ImVec2 tooltip_size{};   // in the frame before: Dear ImGui knows the size of a text window only once it has drawn it
double hover_delay = 0;  // s
struct Hovered {
  ImVec2 at{};
  int frame = -2;    // the last in which the pointer was over it
  double since = 0;  // s of Dear ImGui's clock
  int shown = 0;     // frames that its tooltip was drawn in
} last_hovered;
constexpr int kTooltipFrames = 3;    // until it is in sight: Dear ImGui hides the first, and its place needs its size
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
  for (std::size_t at = word.find_last_of("_:,/<"); at != word.npos && at > 0; at = word.find_last_of("_:,/<", at - 1))
    if (exact_width(word.substr(0, at + 1)) <= width) return at + 1;
  return word.size();
}

bool is_number(std::string_view word) {
  return !word.empty() && word.find_first_of("0123456789") != word.npos &&
         word.find_first_not_of("0123456789.,+-~()") == word.npos;
}

// What belongs to the number before it: "%", "us", "MB/s", also at the end of a sentence.
bool is_unit(std::string_view word) {
  constexpr std::array<std::string_view, 26> kUnits = {
      "%",   "ns", "us", "\xC2\xB5s", "ms",  "s",    "min",  "h",    "B",    "kB",   "KB",      "KiB",     "MiB",
      "GiB", "MB", "GB", "TB",        "B/s", "kB/s", "KB/s", "MB/s", "GB/s", "TB/s", "GFLOP/s", "TFLOP/s", "MHz"};
  while (!word.empty() && std::string_view(".,;:!?)").find(word.back()) != std::string_view::npos) word.remove_suffix(1);
  return std::find(kUnits.begin(), kUnits.end(), word) != kUnits.end();
}

// The end of the first word; a number and its unit are one.
std::size_t end_of_word(std::string_view text) {
  const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
  if (end == text.size() || text[end] != ' ' || !is_number(text.substr(0, end))) return end;
  const std::size_t next = std::min(text.find_first_of(" \n", end + 1), text.size());
  return is_unit(text.substr(end + 1, next - end - 1)) ? next : end;
}

// Lines broken at spaces only. Dear ImGui also breaks after a full stop, which tears "1.46 ms" apart; it stays in charge
// of words that are too long for a line and offer no place to part.
std::string broken_into_lines(std::string_view text, float width) {
  std::string out;
  float used = 0;
  const float space = exact_width(" ");
  while (!text.empty()) {
    const std::size_t end = end_of_word(text);
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
  // A little beyond the width: a line that just fits must not be broken once more.
  ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + width + 2 * kHair);
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
  const float free = ImGui::GetContentRegionAvail().x - text_width(face, text) - kHair;  // for the rim of the last letter
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

void begin_tooltip(ImVec2 low, ImVec2 high, bool above) {
  const ImVec2 display = ImGui::GetIO().DisplaySize, pointer = ImGui::GetIO().MousePos;
  const float gap = ImGui::GetFontSize() * kTooltipGap;
  const float x = std::max(0.0f, std::min(pointer.x, display.x - tooltip_size.x));
  if (const ImGuiWindow& menu = *ImGui::GetCurrentWindow();
      (menu.Flags & ImGuiWindowFlags_Popup) != 0 && menu.Pos.x + menu.Size.x + tooltip_size.x <= display.x) {
    ImGui::SetNextWindowPos({menu.Pos.x + menu.Size.x, low.y});  // alongside a menu, whose next entries it would cover
    ImGui::BeginTooltip();
    return;
  }
  const float under = high.y + gap, over = low.y - gap - tooltip_size.y;
  if (under + tooltip_size.y <= display.y && !(above && over >= 0))
    ImGui::SetNextWindowPos({x, under});
  else if (over >= 0)
    ImGui::SetNextWindowPos({x, over});
  else if (const float y = std::max(0.0f, std::min(pointer.y, display.y - tooltip_size.y));
           high.x + gap + tooltip_size.x <= display.x)
    ImGui::SetNextWindowPos({high.x + gap, y});
  else if (low.x - gap - tooltip_size.x >= 0)
    ImGui::SetNextWindowPos({low.x - gap - tooltip_size.x, y});
  ImGui::BeginTooltip();
}

void end_tooltip() {
  tooltip_size = ImGui::GetWindowSize();
  ImGui::EndTooltip();
}

namespace {

void draw_tooltip_at(ImVec2 low, ImVec2 high, std::string_view text, bool above) {
  begin_tooltip(low, high, above);
  ImGui::PushTextWrapPos(ImGui::GetFontSize() * kTooltipWidth);
  draw_plain(text);
  ImGui::PopTextWrapPos();
  end_tooltip();
}

}  // namespace

void draw_tooltip(ImVec2 low, ImVec2 high, std::string_view text) { draw_tooltip_at(low, high, text, /*above=*/false); }

void set_hover_delay(double seconds) { hover_delay = seconds; }

bool hover_is_due() {
  const int frames = ImGui::GetFrameCount() - last_hovered.frame;
  return (frames == 0 || frames == 1) &&
         (ImGui::GetTime() - last_hovered.since < hover_delay || last_hovered.shown < kTooltipFrames);
}

void draw_hover(std::string_view text, ImGuiHoveredFlags flags) {
  if (text.empty() || !ImGui::IsItemHovered(flags)) return;
  const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
  const int frame = ImGui::GetFrameCount();
  const bool goes_on = last_hovered.frame <= frame && frame - last_hovered.frame <= 1 && last_hovered.at.x == low.x &&
                       last_hovered.at.y == low.y;
  const bool rests = goes_on && !ImGui::IsMouseDown(0);
  last_hovered = {low, frame, rests ? last_hovered.since : ImGui::GetTime(), rests ? last_hovered.shown : 0};
  if (ImGui::GetTime() - last_hovered.since < hover_delay) return;
  draw_tooltip_at(low, high, text, /*above=*/true);
  ++last_hovered.shown;
}

}  // namespace gapscope
