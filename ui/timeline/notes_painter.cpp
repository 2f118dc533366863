// Marks and notes over the timeline: bands and flags in the ruler, faint lines through the lanes, the fields of a flag.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/base/text.h"
#include "core/view/document.h"
#include "core/view/timeline/ruler.h"
#include "ui/search/query_field.h"
#include "ui/timeline/timeline_scene.h"
#include "ui/widgets/text.h"
#include "ui/widgets/text_field.h"

namespace gapscope {
namespace {

constexpr std::size_t kFlagChars = 24;
constexpr float kLeastFlag = 56;    // px of a flag whose text is cut short for its neighbour's: some letters of it can be read
constexpr float kLeastText = 20;    // px of a flag that says something: less is the rim of a letter
constexpr float kFlagPadding = 12;  // of both sides
constexpr std::size_t kMostListed = 8;
constexpr float kFieldWidth = 260;
constexpr const char* kChoice = "choice of notes";
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

// A note, or several that begin too close to each other for a flag each.
struct Flag {
  std::vector<std::size_t> notes;  // positions, in order of time
  Box box;
};

std::string text_of(const TimelineScene& scene, const Flag& flag) {
  if (flag.notes.size() > 1) return std::to_string(flag.notes.size()) + " notes";
  return printable(elide_middle(note_title(scene.view.notes.notes[flag.notes.front()]), kFlagChars));
}

// The flags of the notes in sight, below the digits. Each ends where the next one begins.
std::vector<Flag> flags_of(const TimelineScene& scene) {
  const Painter& p = scene.painter;
  const Box& ruler = scene.areas.ruler;
  const Span& visible = scene.view.time.span;
  const std::vector<Note>& notes = scene.view.notes.notes;
  const float gap = p.px(2), y0 = scene.areas.digits.y1 + p.px(1), y1 = ruler.y1 - gap;
  std::vector<Flag> flags;
  const auto width_of = [&](const Flag& flag) { return p.text_width(Face::sans, text_of(scene, flag)) + p.px(kFlagPadding); };
  for (std::size_t i = 0; i < notes.size(); ++i) {
    const Span& span = notes[i].span;
    if (span.begin > visible.end || (span.empty() ? span.begin < visible.begin : span.end <= visible.begin)) continue;
    const float x0 = std::max(ruler.x0, ends_of(scene, span).x0);
    Flag* last = flags.empty() ? nullptr : &flags.back();
    const float least = last && last->notes.size() == 1 ? p.px(kLeastFlag) : ruler.width();
    if (last && x0 < last->box.x0 + std::min(last->box.width(), least) + gap) {
      last->notes.push_back(i);
      last->box.x1 = last->box.x0 + width_of(*last);
      continue;
    }
    if (last) last->box.x1 = std::min(last->box.x1, x0 - gap);
    flags.push_back({{i}, {x0, y0, x0, y1}});
    flags.back().box.x1 += width_of(flags.back());
  }
  return flags;
}

bool has_chosen(const TimelineScene& scene, const Flag& flag) {
  return std::any_of(flag.notes.begin(), flag.notes.end(),
                     [&](std::size_t i) { return static_cast<std::int32_t>(i) == scene.view.notes.chosen; });
}

void draw_flag(TimelineScene& scene, const Flag& flag) {
  Painter& p = scene.painter;
  const Box& box = flag.box;
  const bool alone = flag.notes.size() == 1;  // several have no colour in common
  p.fill_rounded(box, colour(alone ? note_colour(scene.view.notes.notes[flag.notes.front()]) : scene.theme.text), p.px(2));
  const float room = box.width() - p.px(kFlagPadding);
  std::string text = text_of(scene, flag);
  while (p.text_width(Face::sans, text) > room + 1 && utf8_length(text) > 1) text = elide_middle(text, utf8_length(text) - 1);
  if (box.width() > p.px(kLeastText))
    p.text_in(Face::sans, {box.x0 + p.px(6), box.y0, box.x1, box.y1}, colour(alone ? kInk : scene.theme.background), text);
  if (has_chosen(scene, flag)) p.frame(box, colour(scene.theme.accent), p.hairline() * 2);
}

std::string when_of(const TimelineScene& scene, const Note& note) {
  const std::string at = "at " + exact_time_text(note.span.begin - scene.document.trace.span.begin);
  return note.span.empty() ? at : at + ", " + format_duration(note.span.length()) + " long";
}

void draw_flag_tooltip(const TimelineScene& scene, const Flag& flag) {
  const std::vector<Note>& notes = scene.view.notes.notes;
  begin_tooltip({flag.box.x0, flag.box.y0}, {flag.box.x1, flag.box.y1});
  for (std::size_t i = 0; i < std::min(flag.notes.size(), kMostListed); ++i) {
    const Note& note = notes[flag.notes[i]];
    draw_text(Face::bold, scene.theme.text, printable(note_title(note)));
    draw_text(Face::mono, scene.theme.muted, when_of(scene, note));
  }
  if (flag.notes.size() > kMostListed)
    draw_text(Face::sans, scene.theme.muted, "and " + std::to_string(flag.notes.size() - kMostListed) + " more");
  draw_text(Face::sans, scene.theme.muted,
            flag.notes.size() == 1 ? "Click to change it, Delete to remove it." : "Click to choose one of them.");
  end_tooltip();
}

void open_note(NotesState& notes, std::size_t at) {
  notes.chosen = static_cast<std::int32_t>(at);
  notes.edit = true;
}

void draw_choice_of_notes(TimelineScene& scene, const std::vector<std::size_t>& offered) {
  if (!ImGui::BeginPopup(kChoice)) return;
  NotesState& notes = scene.view.notes;
  for (const std::size_t i : offered) {
    if (i >= notes.notes.size()) continue;
    const Note& note = notes.notes[i];
    ImGui::PushID(static_cast<int>(i));
    if (ImGui::MenuItem(printable(note_title(note)).c_str(), when_of(scene, note).c_str())) open_note(notes, i);
    ImGui::PopID();
  }
  ImGui::EndPopup();
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

void draw_notes(TimelineScene& scene, bool clicked, std::vector<std::size_t>& offered) {
  const std::vector<Note>& notes = scene.view.notes.notes;
  const Box& ruler = scene.areas.ruler;
  scene.painter.clip({ruler.x0, ruler.y0, ruler.x1, scene.areas.lanes.y1});
  for (const Note& note : notes) draw_band(scene, note.span, note_colour(note), 0.18f);
  draw_all_marks(scene);
  const std::vector<Flag> flags = flags_of(scene);
  const Flag* pointed = nullptr;
  for (const Flag& flag : flags) {
    draw_flag(scene, flag);
    if (scene.pointer_inside && flag.box.holds(scene.pointer)) pointed = &flag;
  }
  scene.painter.unclip();
  if (pointed) {
    ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    if (!ImGui::IsMouseDown(0)) draw_flag_tooltip(scene, *pointed);
    if (clicked && pointed->notes.size() == 1) open_note(scene.view.notes, pointed->notes.front());
    if (clicked && pointed->notes.size() > 1) {
      offered = pointed->notes;
      ImGui::OpenPopup(kChoice);
    }
  }
  draw_choice_of_notes(scene, offered);
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
  draw_hover("The note's text. Enter saves it.");
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
