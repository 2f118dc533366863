// The tab "Notes": what was noted on the time axis, and the way there.
#include "core/base/text.h"
#include "core/view/document.h"
#include "core/view/timeline/ruler.h"
#include "core/view/timeline/time_view.h"
#include "ui/panels.h"
#include "ui/timeline/timeline_scene.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

void go_to_note(const Document& document, TraceView& view, const WindowState& window, std::size_t at) {
  const Span span = view.notes.notes[at].span;
  view.notes.chosen = static_cast<std::int32_t>(at);
  const Span trace = document.trace.span;
  go_to(view, window, span.empty() ? revealed(view.time, span, trace) : focused_on(span, trace));
}

void draw_colour(const Note& note) {
  const float size = ImGui::GetTextLineHeight();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::GetWindowDrawList()->AddRectFilled({at.x + 2, at.y + 2}, {at.x + size - 2, at.y + size - 2},
                                            colour(note_colour(note)));
  ImGui::Dummy({size, size});
}

// False when the note was removed.
bool draw_note(const Document& document, TraceView& view, const WindowState& window, const Theme& theme, std::size_t at) {
  const Note note = view.notes.notes[at];
  ImGui::PushID(static_cast<int>(at));
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  draw_colour(note);
  ImGui::TableNextColumn();
  if (draw_link(Face::mono, theme.accent, exact_time_text(note.span.begin - document.trace.span.begin)))
    go_to_note(document, view, window, at);
  draw_hover("Go there.");
  ImGui::TableNextColumn();
  draw_text_right(Face::mono, theme.muted, note.span.empty() ? "" : format_duration(note.span.length()));
  ImGui::TableNextColumn();
  draw_text(Face::sans, note.text.empty() ? theme.muted : theme.text,
            note.text.empty() ? "without a text" : printable(note.text), /*wrap=*/true);
  ImGui::TableNextColumn();
  if (ImGui::SmallButton("Change")) {
    go_to_note(document, view, window, at);
    view.notes.edit = true;
  }
  draw_hover("Change its text or colour.");
  ImGui::SameLine();
  const bool removed = ImGui::SmallButton("Delete");
  draw_hover("Remove this note.");
  if (removed) remove_note(view.notes, at);
  ImGui::PopID();
  return !removed;
}

}  // namespace

void draw_notes_panel(const Document& document, TraceView& view, WindowState& window, Requests& out) {
  if (view.notes.notes.empty())
    return draw_absence(window,
                        "No notes yet. Select a slice and press Shift+M, or point at a time and press Ctrl+M. Notes are saved, "
                        "and shown when this trace is opened again.");
  const Theme& theme = theme_of(window);
  draw_csv_buttons(
      ".notes.csv", [&] { return notes_csv(view.notes.notes, document.trace.span.begin); }, out);
  if (!ImGui::BeginTable("notes", 5, ImGuiTableFlags_RowBg | ImGuiTableFlags_NoSavedSettings)) return;
  ImGui::TableSetupColumn("", ImGuiTableColumnFlags_WidthFixed, ImGui::GetTextLineHeight());
  ImGui::TableSetupColumn("time", ImGuiTableColumnFlags_WidthFixed, text_width(Face::mono, "150.690428 ms "));
  ImGui::TableSetupColumn("length", ImGuiTableColumnFlags_WidthFixed, text_width(Face::mono, "3 min 20 s"));
  ImGui::TableSetupColumn("note", ImGuiTableColumnFlags_WidthStretch);
  ImGui::TableSetupColumn(
      "", ImGuiTableColumnFlags_WidthFixed,
      text_width(Face::sans, "Change Delete") + 4 * ImGui::GetStyle().FramePadding.x + ImGui::GetStyle().ItemSpacing.x);
  ImGui::TableHeadersRow();
  for (std::size_t i = 0; i < view.notes.notes.size(); ++i)
    if (!draw_note(document, view, window, theme, i)) break;
  ImGui::EndTable();
}

}  // namespace gapscope
