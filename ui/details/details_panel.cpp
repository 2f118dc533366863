// The tab "Details": the model of core/view/details/details_model.h in columns, numbers right-aligned, ways to other slices in
// the accent colour.
#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "core/view/details/details_sections.h"
#include "core/view/details/kernel_command.h"
#include "core/view/document.h"
#include "core/view/source_place.h"
#include "core/view/timeline/gap_view.h"
#include "core/view/timeline/slice_colour.h"
#include "ui/panels.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

constexpr float kColumnMinPx = 330;  // at scale 1: a key, a gap and "4367497539681.444 us"
constexpr float kColumnMaxPx = 520;  // wider, and the eye loses the way from key to number
constexpr float kColumnGapPx = 24;
constexpr int kMaxColumns = 4;
constexpr std::size_t kCrumbChars = 48;  // of one part of the way; both ends of a kernel's name stay
constexpr const char* kCrumbSeparator = " > ";
constexpr const char* kCrumbDots = "...";
constexpr std::size_t kLinkChars = 96;  // of another slice's name: two lines in most columns
constexpr std::size_t kCodeLines = 5;   // of a note, a button and a command, about
constexpr float kKeyShare = 0.45f;      // of a column, at most

struct DetailsDrawing {
  const Document& document;
  TraceView& view;
  WindowState& window;
  Requests& out;
  const Theme& theme;
};

// A link to another slice; a click selects it there. Kernel names are distinguished by both ends.
void draw_slice_link(DetailsDrawing& panel, std::string_view name, SliceId target, bool wrap) {
  const std::string text = elide_middle(name, kLinkChars);
  if (draw_link(Face::mono, panel.theme.accent, text, wrap)) select_slice(panel.view, target, /*reveal=*/true);
  if (text != name) draw_hover(name);
}

void draw_separator(const DetailsDrawing& panel) {
  ImGui::SameLine(0, 0);
  draw_text(Face::mono, panel.theme.muted, kCrumbSeparator);
  ImGui::SameLine(0, 0);
}

std::string crumb_text(const Breadcrumb& crumb) { return elide_middle(crumb.text, kCrumbChars); }

// A part of the way; a click goes there.
void draw_crumb(DetailsDrawing& panel, const Breadcrumb& crumb, bool selected) {
  const std::string text = crumb_text(crumb);
  if (selected) {
    draw_text(Face::mono, panel.theme.text, text);
    if (text != crumb.text) draw_hover(crumb.text);
    return;
  }
  if (draw_link(Face::mono, panel.theme.accent, text)) {
    if (crumb.slice)
      select_slice(panel.view, crumb.slice, /*reveal=*/true);
    else
      panel.view.signals.reveal_lane = crumb.lane;
  }
  if (crumb.part == Breadcrumb::Part::slice)
    draw_hover(text == crumb.text ? std::string_view("Select it.") : std::string_view(crumb.text));
  else
    draw_hover(crumb.part == Breadcrumb::Part::process ? "A process; click to scroll to it."
                                                       : "A lane; click to scroll to it.");
}

// The folded parts, one a line.
void draw_folded(DetailsDrawing& panel, const std::vector<Breadcrumb>& crumbs, std::size_t first, std::size_t last) {
  if (draw_link(Face::mono, panel.theme.accent, kCrumbDots)) ImGui::OpenPopup("folded");
  draw_hover(std::to_string(last - first) + " more; click to see them.");
  if (!ImGui::BeginPopup("folded")) return;
  for (std::size_t i = first; i < last; ++i) {
    ImGui::PushID(static_cast<int>(i));
    const LaneId lane = panel.view.signals.reveal_lane;
    const SliceId before = panel.view.selection;
    draw_crumb(panel, crumbs[i], false);
    if (panel.view.selection != before || panel.view.signals.reveal_lane != lane) ImGui::CloseCurrentPopup();
    ImGui::PopID();
  }
  ImGui::EndPopup();
}

// Process > thread > frames > operators > launch > kernel in one line; what does not fit is folded in the middle.
void draw_breadcrumb(DetailsDrawing& panel, const DetailsModel& model) {
  std::vector<float> widths;
  for (const Breadcrumb& crumb : model.crumbs) widths.push_back(text_width(Face::mono, crumb_text(crumb)));
  const auto [first, last] = folded_crumbs(widths, text_width(Face::mono, kCrumbSeparator), text_width(Face::mono, kCrumbDots),
                                           ImGui::GetContentRegionAvail().x);
  for (std::size_t i = 0; i < model.crumbs.size(); ++i) {
    if (i > first && i < last) continue;
    if (i > 0) draw_separator(panel);
    ImGui::PushID(static_cast<int>(i));
    if (i == first && first < last)
      draw_folded(panel, model.crumbs, first, last);
    else
      draw_crumb(panel, model.crumbs[i], model.crumbs[i].slice == model.slice);
    ImGui::PopID();
  }
}

void draw_heading(DetailsDrawing& panel, const DetailsModel& model) {
  draw_breadcrumb(panel, model);
  const float size = ImGui::GetTextLineHeight();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const std::string_view in_file = panel.document.trace.name(model.slice);
  const Rgb fill = paint_of(panel.window.settings.slice_colours, hue_of(model.kind, in_file), shade_of(in_file)).fill;
  ImGui::GetWindowDrawList()->AddRectFilled({at.x, at.y + size * 0.15f}, {at.x + size * 0.7f, at.y + size * 0.85f},
                                            colour(fill), size * 0.1f);
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + size);
  const Ns duration = panel.document.trace.duration(model.slice);
  draw_text(Face::mono, panel.theme.accent, format_duration(duration));  // before the name, which may wrap
  draw_hover(format_duration_exact(duration));
  ImGui::SameLine(0, size);
  draw_text(Face::mono, panel.theme.text, model.name, /*wrap=*/true);
  if (!model.name_in_file.empty()) draw_hover("In the file: " + model.name_in_file);
}

void draw_value(DetailsDrawing& panel, const DetailsLine& line) {
  const Theme& theme = panel.theme;
  const bool fits = text_width(Face::mono, line.value) <= ImGui::GetContentRegionAvail().x;
  if (line.target) {
    draw_slice_link(panel, line.value, line.target, /*wrap=*/true);
  } else if (line.look == DetailsLine::Look::absent) {
    draw_text_right(Face::sans, theme.muted, line.value);
  } else if (line.look == DetailsLine::Look::number && fits) {
    draw_text_right(Face::mono, theme.text, line.value);
  } else {
    draw_text(Face::mono, theme.text, line.value, /*wrap=*/true);
  }
  draw_hover(line.hover);
}

float key_width(const DetailsSection& section, float column) {
  float widest = 0;
  for (const DetailsLine& line : section.lines) widest = std::max(widest, text_width(Face::sans, line.key));
  return std::min(widest, column * kKeyShare);
}

void draw_lines(DetailsDrawing& panel, const DetailsSection& section) {
  if (section.lines.empty()) return;
  const float keys = key_width(section, ImGui::GetContentRegionAvail().x);
  // No gap between lines: the panel is low, and its numbers are read as a block.
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, {ImGui::GetStyle().CellPadding.x, 0});
  const bool open = ImGui::BeginTable("lines", 2, ImGuiTableFlags_NoSavedSettings);
  ImGui::PopStyleVar();
  if (!open) return;
  ImGui::TableSetupColumn("key", ImGuiTableColumnFlags_WidthFixed, keys);
  ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthStretch);
  for (std::size_t i = 0; i < section.lines.size(); ++i) {
    const DetailsLine& line = section.lines[i];
    ImGui::PushID(static_cast<int>(i));
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    draw_text(Face::sans, panel.theme.muted, line.key, /*wrap=*/true);
    ImGui::TableNextColumn();
    draw_value(panel, line);
    ImGui::PopID();
  }
  ImGui::EndTable();
}

// A hairline under a title. ImGui::Separator() starts too far left after a table in the same column.
void draw_rule(const DetailsDrawing& panel) {
  const float hairline = std::max(1.0f, panel.window.frame.scale);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  ImGui::GetWindowDrawList()->AddRectFilled(at, {at.x + width, at.y + hairline}, colour(panel.theme.line));
  ImGui::Dummy({0, hairline});
}

void draw_code(DetailsDrawing& panel, const DetailsSection& section) {
  if (section.code.empty()) return;
  if (ImGui::SmallButton("Copy")) panel.out.add(CopyText{section.code});
  draw_hover(section.code_hover);
  draw_text(Face::mono, panel.theme.text, printable(section.code), /*wrap=*/true);
  draw_hover(section.code_hover);
}

// Cut at the column's end: code that wraps is not code. The line of the frame stands on a plate with a bar before it.
void draw_source(DetailsDrawing& panel, const DetailsSection& section) {
  if (section.source && !section.source->to_allow.empty()) draw_allow_sources(section.source->to_allow, panel.out);
  if (!section.source || section.source->file.empty()) return;
  const SourceLines& source = *section.source;
  if (ImGui::SmallButton("Open in editor")) panel.out.add(OpenInEditor{source.file, source.line});
  draw_hover(printable(source.file));
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float width = ImGui::GetContentRegionAvail().x, height = ImGui::GetTextLineHeight(), gap = 8 * panel.window.frame.scale;
  const float numbers = text_width(Face::mono, std::to_string(source.first + static_cast<std::int64_t>(source.lines.size())));
  for (std::size_t i = 0; i < source.lines.size(); ++i) {
    const std::int64_t number = source.first + static_cast<std::int64_t>(i);
    const bool marked = number == source.line;
    const std::string digits = std::to_string(number);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    if (marked) {
      list.AddRectFilled(at, {at.x + width, at.y + height}, colour(panel.theme.raised));
      list.AddRectFilled(at, {at.x + gap / 3, at.y + height}, colour(panel.theme.accent));
    }
    list.PushClipRect(at, {at.x + width, at.y + height}, true);
    ImGui::SetCursorScreenPos({at.x + gap + numbers - text_width(Face::mono, digits), at.y});
    draw_text(Face::mono, marked ? panel.theme.text : panel.theme.muted, digits);
    ImGui::SetCursorScreenPos({at.x + gap * 2 + numbers, at.y});
    draw_text(Face::mono, panel.theme.text, source.lines[i]);
    if (text_width(Face::mono, source.lines[i]) > width - gap * 2 - numbers) draw_hover(source.lines[i]);
    list.PopClipRect();
    ImGui::SetCursorScreenPos({at.x, at.y + height});
  }
  ImGui::Dummy({0, 0});
}

void draw_section(DetailsDrawing& panel, const DetailsSection& section) {
  ImGui::PushID(section.title.c_str());
  draw_text(Face::bold, panel.theme.text, section.title);
  draw_rule(panel);
  if (!section.note.empty()) draw_text(Face::sans, panel.theme.muted, section.note, /*wrap=*/true);
  draw_lines(panel, section);
  draw_code(panel, section);
  draw_source(panel, section);
  ImGui::Spacing();
  ImGui::PopID();
}

// Each section goes to the column that is shortest so far: what matters most stays at the top of some column.
std::vector<int> columns_of(const DetailsModel& model, int columns) {
  std::array<std::size_t, kMaxColumns> filled{};
  std::vector<int> column_of;
  for (const DetailsSection& section : model.sections) {
    const auto shortest = std::min_element(filled.begin(), filled.begin() + columns);
    *shortest += section.lines.size() + 2;  // its title and the space after it
    if (!section.code_hover.empty()) *shortest += kCodeLines;
    if (section.source) *shortest += section.source->lines.size() + 2;
    column_of.push_back(static_cast<int>(shortest - filled.begin()));
  }
  return column_of;
}

void draw_sections(DetailsDrawing& panel, const DetailsModel& model) {
  const float scale = panel.window.frame.scale;
  const float width = ImGui::GetContentRegionAvail().x;
  const int fitting = std::clamp(static_cast<int>(width / (kColumnMinPx * scale)), 1, kMaxColumns);
  const int columns = std::min(fitting, static_cast<int>(model.sections.size()));
  const float column_width = std::min(width / static_cast<float>(columns), kColumnMaxPx * scale);
  const std::vector<int> column_of = columns_of(model, columns);
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, {kColumnGapPx / 2 * scale, 0});
  const bool open =
      ImGui::BeginTable("sections", columns, ImGuiTableFlags_NoSavedSettings, {column_width * static_cast<float>(columns), 0});
  ImGui::PopStyleVar();
  if (!open) return;
  ImGui::TableNextRow();
  for (int column = 0; column < columns; ++column) {
    ImGui::TableNextColumn();
    for (std::size_t i = 0; i < model.sections.size(); ++i)
      if (column_of[i] == column) draw_section(panel, model.sections[i]);
  }
  ImGui::EndTable();
}

// Also true of no section.
bool has_section(const DetailsModel& model, const std::string& title) {
  return title.empty() || std::any_of(model.sections.begin(), model.sections.end(),
                                      [&](const DetailsSection& section) { return section.title == title; });
}

// Makes the model anew for another selection, or for more that was read about it, and asks for that.
void refresh(const Document& document, TraceView& view, WindowState& window, Requests& out) {
  const SliceId slice = view.selection;
  DetailsModel& model = view.details;
  ask(document, ArgsQuestion{slice}, out);
  if (may_have_ncu_command(document.trace, slice)) ask(document, KernelCommandQuestion{slice}, out);
  const Kind kind = document.trace.kind(slice);
  if (document.analysis() && (kind == Kind::op || kind == Kind::kernel))
    ask(document, RooflineQuestion{view.roofline.module}, out);
  const auto args = answer_to<ArgsQuestion>(document);
  const auto command = answer_to<KernelCommandQuestion>(document);
  const auto source = answer_to<SourceLinesQuestion>(document);
  const bool same = model.slice == slice && model.args == args && model.command == command && model.source == source;
  if (same && !model.frame.empty())
    ask(document, SourceLinesQuestion{model.frame, window.settings.source_paths, window.settings.asks_for_sources}, out);
  if (same && has_section(model, roofline_section(document, slice).title)) return;
  model = make_details(document, slice, args, command, source);
}

// What is chosen anew begins at its top.
void scroll_up_for_another(const Document& document, const TraceView& view) {
  const DeviceGap* gap = view.selection ? nullptr : chosen_gap(document, view).gap;
  ImGui::PushID(view.selection ? static_cast<int>(view.selection.index()) : -1);
  const int shown = static_cast<int>(ImGui::GetID(gap ? static_cast<const void*>(gap) : &document));
  ImGui::PopID();
  if (std::exchange(*ImGui::GetStateStorage()->GetIntRef(ImGui::GetID("shown")), shown) != shown) ImGui::SetScrollY(0);
}

}  // namespace

void draw_details(const Document& document, TraceView& view, WindowState& window, Requests& out) {
  DetailsDrawing panel{document, view, window, out, theme_of(window)};
  scroll_up_for_another(document, view);
  if (!view.selection && chosen_gap(document, view).gap) return draw_gap_details(document, view, window, out);
  if (!view.selection && has_account(document)) {
    draw_text(Face::sans, panel.theme.muted, "Nothing is selected. Click a slice to see its details.", /*wrap=*/true);
    return draw_account_details(document, view, window);
  }
  if (!view.selection) {
    draw_text(Face::sans, panel.theme.muted,
              "Nothing is selected. Click a slice to see its time, its parents, its args and, for a kernel, its resources.",
              /*wrap=*/true);
    return;
  }
  refresh(document, view, window, out);
  const DetailsModel& model = view.details;  // a click below changes the selection; the model follows next frame
  draw_heading(panel, model);
  ImGui::Spacing();
  draw_sections(panel, model);
}

}  // namespace gapscope
