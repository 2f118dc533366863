#include "ui/widgets/controls.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/view/document.h"
#include "core/view/selection/area_model.h"
#include "ui/widgets/table_file.h"
#include "ui/widgets/text.h"

namespace gapscope {

std::size_t draw_choice(const char* id, std::span<const Choice> choices, std::size_t chosen, const WindowState& window) {
  const Theme& theme = theme_of(window);
  ImGui::PushID(id);
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (i > 0) ImGui::SameLine(0, window.frame.scale);
    const bool down = i == chosen;
    ImGui::PushStyleColor(ImGuiCol_Button, down ? colour(blend(theme.raised, theme.accent, 0.35f)) : colour(theme.raised));
    ImGui::PushStyleColor(ImGuiCol_Text, colour(down ? theme.text : theme.muted));
    if (ImGui::Button(choices[i].title)) chosen = i;
    ImGui::PopStyleColor(2);
    draw_hover(choices[i].help);
  }
  ImGui::PopID();
  return chosen;
}

bool go_on(float width, float gap) {
  const float right = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x;
  const bool fits = ImGui::GetItemRectMax().x + gap + width <= right;
  if (fits) ImGui::SameLine(0, gap);
  return fits;
}

bool draw_checkbox(const char* label, bool* on) {
  ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, 1);
  ImGui::PushStyleColor(ImGuiCol_Border, ImGui::GetColorU32(ImGuiCol_TextDisabled));
  const bool pressed = ImGui::Checkbox(label, on);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  return pressed;
}

std::string range_text(const Trace& trace, Span range) {
  constexpr Ns kClose = 50;  // so much later than it is long, both its ends read the same
  if (range.begin - trace.span.begin > kClose * range.length())
    return format_duration(range.length()) + " from " + format_duration(range.begin - trace.span.begin);
  return format_duration(range.begin - trace.span.begin) + " - " + format_duration(range.end - trace.span.begin);
}

void draw_whole_note(const TraceView& view, const WindowState& window) {
  if (view.range)
    draw_text(Face::sans, theme_of(window).notable, "For the whole recording, not for the selected time.", /*wrap=*/true);
}

void draw_range_chip(const Document& document, TraceView& view, const WindowState& window) {
  if (!view.range) return;
  const Theme& theme = theme_of(window);
  ImGui::PushStyleVar(ImGuiStyleVar_FrameRounding, ImGui::GetFrameHeight() / 2);
  ImGui::PushStyleColor(ImGuiCol_Button, colour(theme.accent, 0.25f));
  const std::string words = "range " + range_text(document.trace, *view.range) + "  x", text = words + "###range";
  const float width = ImGui::CalcTextSize(words.c_str()).x + 2 * ImGui::GetStyle().FramePadding.x;
  if (ImGui::GetContentRegionAvail().x < width && width < ImGui::GetWindowWidth())
    ImGui::NewLine();  // not next to what is there
  const Span range = *view.range;
  if (ImGui::Button(text.c_str())) clear_area(view);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  draw_hover("Only what begins within these " + format_duration(range.length()) +
             " is counted. Drag over the lanes or in the ruler for another range. Click here for the whole trace.");
}

bool draw_part_note(const Document& document, const WindowState& window, std::string_view what) {
  if (!document.trace.is_part) return false;
  draw_absence(window, "Only the beginning of the file is loaded; " + std::string(what) + " when all of it is.");
  return true;
}

void draw_working(const Document& document, const WindowState& window, std::string_view what, Requests& out) {
  if (draw_part_note(document, window, std::string(what) + " follows")) return;
  ask(document, AnalysisQuestion{}, out);
  if (draw_trouble<AnalysisQuestion>(document, window)) return;
  const int percent = static_cast<int>(document.analysis_fraction() * 100);
  draw_absence(window, "Computing " + std::string(what) + ", " + std::to_string(percent) + " %");
}

bool draw_try_again(std::string_view why, const WindowState& window) {
  draw_text(Face::sans, theme_of(window).notable, printable(std::string(why)), /*wrap=*/true);
  return ImGui::Button("Try again");
}

float csv_buttons_width() {
  const ImGuiStyle& style = ImGui::GetStyle();
  return ImGui::CalcTextSize("Copy CSVSave CSV").x + style.FramePadding.x * 4 + style.ItemSpacing.x;
}

void draw_csv_buttons(const char* ending, const std::function<std::string()>& text, Requests& out) {
  const float buttons = csv_buttons_width();
  const bool follows = ImGui::GetCursorPosX() > ImGui::GetCursorStartPos().x + 1;
  if (follows && ImGui::GetContentRegionAvail().x < buttons) ImGui::NewLine();
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(0.0f, ImGui::GetContentRegionAvail().x - buttons));
  if (ImGui::Button("Copy CSV")) out.add(CopyText{text()});
  draw_hover("Copy the rows below as CSV, in nanoseconds.");
  ImGui::SameLine();
  const bool wanted = take_table_wanted();
  if (ImGui::Button("Save CSV") || wanted) out.add(SaveText{ending, text()});
  draw_hover("Save the rows below as CSV next to the trace.");
}

void draw_allow_sources(const std::string& folder, Requests& out) {
  if (ImGui::SmallButton("Allow this folder")) out.add(AllowSources{folder});
  draw_hover(printable(folder) +
             "\nSource files below it are read if a recording names them. View > Editor and sources has the list.");
}

void draw_absence(const WindowState& window, std::string_view sentence) {
  draw_text(Face::sans, theme_of(window).muted, sentence, /*wrap=*/true);
}

}  // namespace gapscope
