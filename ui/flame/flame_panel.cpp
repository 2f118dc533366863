// The tab "Flame": boxes of core/view/flame/flame_layout.h, the outermost on top.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/text.h"
#include "core/session/missing_words.h"
#include "core/view/document.h"
#include "core/view/flame/flame_model.h"
#include "core/view/selection/area_model.h"
#include "ui/panels.h"
#include "ui/timeline/painter.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

constexpr float kRow = 20;  // px at scale 1, as a depth of a lane
constexpr float kBox = 19;
constexpr float kLabelPadding = 4;
constexpr float kLeastLabelRoom = 10;
constexpr float kEdgeFrom = 4;

constexpr std::array<Choice, 3> kTimes = {{
    {"CPU time", "Slices of CPU threads, nested by call."},
    {"GPU time", "Kernels, copies and memsets under the calls that launched them."},
    {"By module", "GPU time, forward and backward, under its modules, as in the tab Modules."},
}};
constexpr std::array<Choice, 2> kOrders = {{
    {"Left heavy", "The longest first, from the left."},
    {"Time ordered", "In the order of first appearance."},
}};

struct FlamePanel {
  const Document& document;
  TraceView& view;
  WindowState& window;
  const Theme& theme;
  FlameState& state;
  const std::shared_ptr<const FlameAnswer>& answer() const { return answer_to<FlameQuestion>(document); }
  const CallPaths& paths() const { return answer()->paths; }
  float px(float size) const { return std::round(size * window.frame.scale); }
};

std::string what_is_shown(const FlamePanel& panel) {
  const Area& area = panel.answer()->question.area;
  if (!panel.view.range || panel.answer()->question.time == PathTime::module) return "The whole trace.";
  return fmt::format("{} on {} of {} lanes.", format_duration(area.span.length()), area.lanes.size(),
                     panel.document.trace.lanes.size());
}

void draw_toolbar(FlamePanel& panel) {
  FlameState& state = panel.state;
  state.time = static_cast<PathTime>(draw_choice("time", kTimes, static_cast<std::size_t>(state.time), panel.window));
  ImGui::SameLine();
  state.order = static_cast<PathOrder>(draw_choice("order", kOrders, static_cast<std::size_t>(state.order), panel.window));
  ImGui::SameLine();
  if (state.zoom != 0) {
    if (ImGui::Button("All")) state.zoom = 0;
    draw_hover("Show all of it again (Esc).");
    ImGui::SameLine();
  }
  if (!panel.answer()) return ImGui::NewLine();
  const bool late = panel.answer()->question != asked<FlameQuestion>(panel.document).question;
  draw_text(Face::sans, panel.theme.muted,
            late ? "Adding up the call paths..." : what_is_shown(panel) + " Click a box to zoom into it.");
}

Box box_of(const FlamePanel& panel, const FlameBox& box, ImVec2 at) {
  const float y = at.y + static_cast<float>(box.row) * panel.px(kRow);
  return {at.x + box.x0, y, at.x + box.x1, y + std::min(panel.px(kBox), panel.px(kRow) - 1)};
}

void draw_box(const FlamePanel& panel, Painter& p, std::size_t i, const Box& box, const GlyphWidths& widths,
              std::string& label) {
  const FlameBox& flame = panel.state.arranged.boxes[i];
  const SliceColours::Class look = panel.state.arranged.colours[i];
  const bool named = panel.paths().name[flame.node].valid();
  const Paint& paint = paint_of(panel.window.settings.slice_colours, look.hue, look.shade);
  const bool plain = flame.folded > 0 || !named;
  p.fill(box, plain ? colour(panel.theme.line) : colour(paint.fill));
  if (box.width() >= kEdgeFrom * p.hairline())
    p.line_y(box.x1 - p.hairline(), box.y0, box.y1, colour(plain ? panel.theme.surface : paint.edge));
  if (look.hue == Hue::overhead && !plain) p.hatch(box, colour(panel.theme.costly, 0.55f));
  const float room = box.width() - 2 * p.px(kLabelPadding);
  if (flame.folded > 0 || room < p.px(kLeastLabelRoom)) return;
  fit_label(path_name(panel.document.trace, panel.paths(), flame.node), room, widths, label);
  p.text_in(Face::mono, {box.x0 + p.px(kLabelPadding), box.y0, box.x1, box.y1},
            plain ? colour(panel.theme.text) : colour(paint.text), label);
}

// What is under the pointer is lighter and says what it is; a click zooms.
void act_on(FlamePanel& panel, Painter& p, const FlameBox& flame, const Box& box) {
  p.fill(box, colour(panel.theme.text, 0.16f));
  ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  if (ImGui::IsMouseClicked(0)) panel.state.zoom = zoom_of(panel.paths(), flame);
  draw_hover(box_text(panel.document.trace, panel.paths(), flame));
}

void draw_boxes(FlamePanel& panel) {
  const float width = std::floor(ImGui::GetContentRegionAvail().x - ImGui::GetStyle().ScrollbarSize);
  ImGui::BeginChild("boxes");
  arrange_flame(panel.document.trace, panel.answer(), panel.state, std::max(width, 1.0f));
  const FlameState::Arranged& made = panel.state.arranged;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float y0 = ImGui::GetWindowPos().y, y1 = y0 + ImGui::GetWindowHeight();
  Painter p(*ImGui::GetWindowDrawList(), panel.window.frame.scale);
  const GlyphWidths widths = glyph_widths(Face::mono);
  // Not IsItemHovered alone: boxes are no items of their own.
  ImGui::InvisibleButton("paths", {std::max(width, 1.0f), std::max(1.0f, static_cast<float>(made.rows) * panel.px(kRow))});
  const bool hovered = ImGui::IsItemHovered();
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  std::string label;
  for (std::size_t i = 0; i < made.boxes.size(); ++i) {
    const Box box = box_of(panel, made.boxes[i], at);
    if (box.y1 <= y0 || box.y0 >= y1) continue;
    draw_box(panel, p, i, box, widths, label);
    if (hovered && box.holds(mouse)) act_on(panel, p, made.boxes[i], box);
  }
  ImGui::EndChild();
}

std::string_view why_empty(const FlamePanel& panel) {
  if (panel.answer()->question.time == PathTime::cpu)
    return "This area has no slice of a CPU thread. Mark CPU lanes, or switch to GPU time.";
  if (panel.answer()->question.time == PathTime::module)
    return "No GPU work belongs to a module or a region. To record modules, use activities=[ProfilerActivity.CPU, "
           "ProfilerActivity.CUDA], with_stack=True, with_modules=True.";
  return panel.document.trace.gpu.empty() ? panel.document.trace.producer->no_gpu_work : "No GPU work runs here in this time.";
}

}  // namespace

void draw_flame(const Document& document, TraceView& view, WindowState& window, Requests& out) {
  if (draw_part_note(document, window, "the flame graph follows")) return;
  FlamePanel panel{document, view, window, theme_of(window), view.flame};
  if (view.flame.time == PathTime::cpu && is_of_gpus_alone(document.trace, view)) view.flame.time = PathTime::gpu;
  FlameQuestion question = flame_question(document.trace, view);
  ask(document, std::move(question), out);
  if (draw_trouble<FlameQuestion>(document, window)) return;
  draw_toolbar(panel);
  if (!panel.answer()) return draw_absence(window, "Adding up the call paths...");
  if (panel.paths().total[0] <= 0) return draw_absence(window, why_empty(panel));
  draw_boxes(panel);
}

}  // namespace gapscope
