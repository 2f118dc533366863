// Marks and notes over the timeline: bands and flags in the ruler, faint lines through the lanes, the fields of a flag.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/base/text.h"
#include "core/view/timeline/ruler.h"
#include "ui/search/query_field.h"
#include "ui/timeline/timeline_scene.h"
#include "ui/widgets/text.h"
#include "ui/widgets/text_field.h"

namespace gapscope {
namespace {

constexpr std::size_t kFlagChars = 24;
constexpr float kLeastFlag = 10;  // px of a flag next to its neighbour's
constexpr float kLeastText = 20;  // px of a flag that says something: less is the rim of a letter
constexpr float kFieldWidth = 260;
constexpr Rgb kInk{0x14, 0x17, 0x1C};  // on all of the six

// Bright enough for dark text in both themes.
constexpr std::array<Rgb, kNoteColours> kColours = {Rgb{0xFF, 0xD1, 0x66}, Rgb{0x7F, 0xBD, 0xFF}, Rgb{0x6F, 0xD6, 0xA4},
                                                    Rgb{0xF0, 0x8F, 0xBB}, Rgb{0xB9, 0xA2, 0xF2}, Rgb{0xF2, 0xA3, 0x6B}};
constexpr std::array<const char*, kNoteColours> kColourNames = {"Yellow", "Blue", "Green", "Pink", "Violet", "Orange"};

struct Ends {
  float x0, x1;
};
Ends ends_of(const TimelineScene& scene, Span span) {
  return {scene.window_x(scene.grid.column(span.begin)), scene.window_x(scene.grid.column(span.end))};
}

void draw_band(TimelineScene& scene, Span span, Rgb rgb, float alpha) {
  Painter& p = scene.painter;
  const Box& ruler = scene.areas.ruler;
  const auto [x0, x1] = ends_of(scene, span);
  const auto edge = [&](float x) {
    p.line_y(x, ruler.y0, ruler.y1, colour(rgb, 0.55f));
    draw_through(scene, x, colour(rgb, 0.55f));
  };
  if (x1 > x0) p.fill({x0, ruler.y0, x1, ruler.y1}, colour(rgb, alpha));
  edge(x0);
  if (x1 > x0) edge(x1);
}

bool beside_each_other(const Box& a, const Box& b) { return a.x1 <= b.x0 || b.x1 <= a.x0; }

// A text on a ground of its own, its middle at x where there is room. Left out where it would lie over one of `taken`, which
// it joins else.
void draw_pill(TimelineScene& scene, float x, Rgb rgb, std::string_view text, std::vector<Box>& taken) {
  Painter& p = scene.painter;
  const Box& ruler = scene.areas.ruler;
  const float width = p.text_width(Face::mono, text) + p.px(12);
  const float x0 = std::clamp(std::floor(x - width / 2), ruler.x0, std::max(ruler.x0, ruler.x1 - width));
  const Box box{x0, ruler.y0 + p.px(2), x0 + width, scene.areas.digits.y1 - p.px(3)};
  if (!std::all_of(taken.begin(), taken.end(), [&](const Box& other) { return beside_each_other(box, other); })) return;
  taken.push_back(box);
  p.fill_rounded(box, colour(rgb), p.px(3));
  p.text_in(Face::mono, {box.x0 + p.px(6), box.y0, box.x1, box.y1}, colour(scene.theme.background), text);
}

void draw_pill_over(TimelineScene& scene, Span span, Rgb rgb, std::string_view text, std::vector<Box>& taken) {
  const Span& visible = scene.view.time.span;
  if (span.end < visible.begin || span.begin > visible.end) return;
  const auto [x0, x1] = ends_of(scene, intersect(span, visible));
  draw_pill(scene, (x0 + x1) / 2, rgb, text, taken);
}

// How long it is; of a moment, when.
std::string mark_text(const TimelineScene& scene, Span mark) {
  return mark.empty() ? exact_time_text(mark.begin - axis_zero(scene.view, scene.document.trace.span))
                      : format_duration(mark.length());
}

void draw_all_marks(TimelineScene& scene) {
  const NotesState& notes = scene.view.notes;
  const Rgb rgb = scene.theme.selection;
  for (const Span mark : notes.marks) draw_band(scene, mark, rgb, 0.22f);
  std::vector<Box> taken;  // the time at the pointer comes first
  if (const GuidePill pointer = guide_pill(scene); !pointer.text.empty()) taken.push_back(pointer.box);
  for (const Span mark : notes.marks) draw_pill_over(scene, mark, rgb, mark_text(scene, mark), taken);
  if (const std::optional<Span> between = between_marks(notes); between && !between->empty()) {
    const auto [x0, x1] = ends_of(scene, *between);
    const float y = scene.areas.digits.y1 - scene.painter.px(4);
    scene.painter.line_x(y, x0, x1, colour(scene.theme.accent));
    draw_pill_over(scene, *between, scene.theme.accent, format_duration(between->length()) + " between", taken);
  }
}

// Where the flag of each note stands, below the digits; empty where it is out of sight. It ends where the next one begins, and
// the next one begins past enough of it to be seen and clicked, also of notes at one time.
std::vector<Box> flag_boxes(const TimelineScene& scene) {
  const Painter& p = scene.painter;
  const Box& ruler = scene.areas.ruler;
  const Span& visible = scene.view.time.span;
  const std::vector<Note>& notes = scene.view.notes.notes;
  const float gap = p.px(2), y0 = scene.areas.digits.y1 + p.px(1), y1 = ruler.y1 - gap;
  std::vector<Box> boxes(notes.size());
  Box* last = nullptr;
  for (std::size_t i = 0; i < notes.size(); ++i) {
    const Span& span = notes[i].span;
    if (span.begin > visible.end || (span.empty() ? span.begin < visible.begin : span.end <= visible.begin)) continue;
    float x0 = std::max(ruler.x0, ends_of(scene, span).x0);
    if (last) {
      x0 = std::max(x0, last->x0 + p.px(kLeastFlag) + gap);
      last->x1 = std::min(last->x1, x0 - gap);
    }
    const float width = p.text_width(Face::sans, elide_middle(note_title(notes[i]), kFlagChars)) + p.px(12);
    boxes[i] = {x0, y0, x0 + width, y1};
    last = &boxes[i];
  }
  return boxes;
}

void draw_flag(TimelineScene& scene, std::size_t at, const Box& box) {
  Painter& p = scene.painter;
  const Note& note = scene.view.notes.notes[at];
  const Rgb rgb = kColours[note.colour % kNoteColours];
  p.fill_rounded(box, colour(rgb), p.px(2));
  if (box.width() > p.px(kLeastText))
    p.text_in(Face::sans, {box.x0 + p.px(6), box.y0, box.x1 - p.px(2), box.y1}, colour(kInk),
              printable(elide_middle(note_title(note), kFlagChars)));
  if (static_cast<std::int32_t>(at) == scene.view.notes.chosen) p.frame(box, colour(scene.theme.text), p.hairline());
}

void draw_flag_tooltip(const TimelineScene& scene, const Note& note, const Box& flag) {
  const Ns origin = scene.document.trace.span.begin;
  begin_tooltip({flag.x0, flag.y0}, {flag.x1, flag.y1});
  draw_text(Face::bold, scene.theme.text, printable(note_title(note)));
  std::string when = "at " + exact_time_text(note.span.begin - origin);
  if (!note.span.empty()) when += ", " + format_duration(note.span.length()) + " long";
  draw_text(Face::mono, scene.theme.muted, when);
  draw_text(Face::sans, scene.theme.muted, "Click to change it, Delete to remove it.");
  end_tooltip();
}

void draw_colours(Note& note, float size) {
  for (std::size_t c = 0; c < kColours.size(); ++c) {
    ImGui::PushID(static_cast<int>(c));
    if (c > 0) ImGui::SameLine();
    if (ImGui::ColorButton("##colour", colour_vec(kColours[c]), ImGuiColorEditFlags_NoTooltip | ImGuiColorEditFlags_NoDragDrop,
                           {size, size}))
      note.colour = static_cast<std::uint8_t>(c);
    draw_hover(kColourNames[c]);
    if (note.colour == c) {
      const ImVec2 a = ImGui::GetItemRectMin(), b = ImGui::GetItemRectMax();
      ImGui::GetWindowDrawList()->AddRect(a, b, ImGui::GetColorU32(ImGuiCol_Text), 0, 0, 2);
    }
    ImGui::PopID();
  }
}

}  // namespace

Rgb note_colour(const Note& note) { return kColours[note.colour % kNoteColours]; }

std::optional<std::size_t> draw_notes(TimelineScene& scene) {
  const std::vector<Note>& notes = scene.view.notes.notes;
  const Box& ruler = scene.areas.ruler;
  std::optional<std::size_t> under;
  scene.painter.clip({ruler.x0, ruler.y0, ruler.x1, scene.areas.lanes.y1});
  for (const Note& note : notes) draw_band(scene, note.span, note_colour(note), 0.18f);
  draw_all_marks(scene);
  const std::vector<Box> flags = flag_boxes(scene);
  for (std::size_t i = 0; i < notes.size(); ++i) {
    if (flags[i].width() <= 0) continue;
    draw_flag(scene, i, flags[i]);
    if (scene.pointer_inside && flags[i].holds(scene.pointer)) under = i;
  }
  scene.painter.unclip();
  if (under) {
    ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    if (!ImGui::IsMouseDown(0)) draw_flag_tooltip(scene, notes[*under], flags[*under]);
  }
  return under;
}

void draw_note_editor(TimelineScene& scene) {
  NotesState& notes = scene.view.notes;
  const bool known = notes.chosen >= 0 && static_cast<std::size_t>(notes.chosen) < notes.notes.size();
  if (notes.edit && known) ImGui::OpenPopup("note");
  notes.edit = notes.editing = false;
  if (!known) return;
  const auto at = static_cast<std::size_t>(notes.chosen);
  const Box& ruler = scene.areas.ruler;
  const float x = std::clamp(ends_of(scene, notes.notes[at].span).x0, ruler.x0,
                             std::max(ruler.x0, ruler.x1 - scene.painter.px(kFieldWidth)));
  ImGui::SetNextWindowPos({x, ruler.y1 + scene.painter.px(4)}, ImGuiCond_Appearing);
  notes.editing = ImGui::BeginPopup("note");
  if (!notes.editing) return;
  // Enter and Esc close it (ui/menu_keys.h); the letter of Shift+M is not part of the text.
  std::string& text = notes.notes[at].text;
  const bool awaits = !ImGui::GetIO().WantTextInput;
  bool caret_to_end = awaits && !text.empty();
  const bool has_keys = draw_query_field("##text", "what happens here?", scene.painter.px(kFieldWidth),
                                         {text, caret_to_end, false, false, 'M', awaits});
  if (!has_keys && !ImGui::IsMouseDown(0)) give_keys_to_last_item();
  draw_hover("The note's text; Enter when it is done.");
  draw_colours(notes.notes[at], ImGui::GetFrameHeight());
  ImGui::SameLine(0, scene.painter.px(16));
  if (ImGui::Button("Delete")) {
    remove_note(notes, at);
    ImGui::CloseCurrentPopup();
  }
  draw_hover("Remove this note.");
  ImGui::EndPopup();
}

}  // namespace gapscope
