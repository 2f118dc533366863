// The chart of a memory snapshot: holders upon each other, with what the program said it did above.
#include <cmath>

#include <fmt/format.h>

#include "core/view/timeline/ruler.h"
#include "core/view/timeline/time_view.h"
#include "ui/snapshot/snapshot_drawing.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

constexpr float kScale = 76, kStrip = 18, kRuler = 22;  // px at scale 1
constexpr float kTickSpacing = 110;
constexpr float kLeastLabelWidth = 80, kLeastLabelHeight = 14;
constexpr float kLeastEdge = 4;  // px, of a block that has a line at its top
constexpr std::size_t kMostLabels = 40;

// 1, 2 or 5 times a power of ten, at least `least`.
std::int64_t round_step(double least) {
  const double power = std::pow(10.0, std::floor(std::log10(std::max(least, 1.0))));
  for (const double factor : {1.0, 2.0, 5.0, 10.0})
    if (power * factor >= least) return static_cast<std::int64_t>(power * factor);
  return 1;
}

}  // namespace

void SnapshotPage::draw_chart(Drawing& d, const Box& box) {
  const float strip = annotations_.empty() ? 0 : d.px(kStrip), ruler = d.px(kRuler);
  chart_ = {box.x0 + d.px(kScale), box.y0 + strip + d.px(4), box.x1 - d.px(8), box.y1 - ruler};
  if (chart_.width() < 8 || chart_.height() < 8) return;
  ImGui::SetCursorScreenPos({chart_.x0, box.y0});
  ImGui::InvisibleButton("memory chart", {chart_.width(), box.height()});
  const bool hovered = ImGui::IsItemHovered();
  const ImGuiIO& io = ImGui::GetIO();
  TimelineMouse mouse;
  mouse.anchor = std::clamp((io.MousePos.x - chart_.x0) / chart_.width(), 0.0f, 1.0f);
  if (hovered) {
    mouse.wheel_x = io.MouseWheelH;
    mouse.wheel_y = io.MouseWheel;
    mouse.shift = io.KeyShift;
    mouse.ctrl = io.KeyCtrl || (io.MouseWheel != 0 && !io.KeyShift);  // nothing here scrolls: the wheel alone zooms
  } else {
    mouse.ctrl = io.KeyCtrl;
    mouse.anchor = 0.5f;
  }
  mouse.alt = io.KeyAlt;
  const bool dragged = io.MouseDragMaxDistanceSqr[0] > io.MouseDragThreshold * io.MouseDragThreshold;
  if (ImGui::IsItemActive() && dragged) mouse.drag = io.MouseDelta;
  const OpenedDevice& device = d.device(device_);
  const MemoryAxis on = axis(d.opened);
  motion_.advance(on.reach(), view_, d.window, d.keys, mouse, chart_.width(), d.delta_s);
  areas_ = memory_areas(device.history, on, view_.time, static_cast<std::uint32_t>(chart_.width()),
                        most_ / std::max<std::int64_t>(static_cast<std::int64_t>(chart_.height()), 1));
  draw_areas(d);
  draw_marks(d, {chart_.x0, box.y0, chart_.x1, chart_.y0});
  if (strip > 0) draw_annotations(d, {chart_.x0, box.y0, chart_.x1, box.y0 + strip});
  draw_ticks(d, {chart_.x0, chart_.y1, chart_.x1, box.y1});
  if (device.device->events.empty())
    return Painter(*ImGui::GetWindowDrawList(), d.window.frame.scale)
        .text_in(Face::sans, {chart_.x0 + d.px(8), chart_.y0, chart_.x1, chart_.y1}, colour(d.theme.muted),
                 "No history was recorded: call torch.cuda.memory._record_memory_history() before the program.");
  if (hovered) point_at_chart(d);
}

void SnapshotPage::draw_areas(Drawing& d) {
  Painter p(*ImGui::GetWindowDrawList(), d.window.frame.scale);
  const BlockHistory& history = d.device(device_).history;
  p.fill(chart_, colour(d.theme.background));
  p.clip(chart_);
  const float per_byte = chart_.height() / (static_cast<float>(most_) * 1.02f);
  const auto y_of = [&](std::int64_t bytes) { return chart_.y1 - static_cast<float>(bytes) * per_byte; };
  struct Colours {
    ImU32 rest, block, edge;
  };
  std::vector<Colours> paints;
  for (std::size_t i = 0; i < history.bands().size(); ++i) {
    const Paint& paint = band_paint(d.window, history, i);
    paints.push_back({colour(blend(paint.fill, d.theme.background, 0.18f)), colour(paint.fill), colour(paint.edge)});
  }
  std::size_t labels = 0;
  for (const AreaRun& run : areas_.runs) {
    const Box box{chart_.x0 + static_cast<float>(run.first), y_of(run.high), chart_.x0 + static_cast<float>(run.last),
                  y_of(run.low)};
    if (box.height() < 0.5f) continue;
    const bool is_block = run.block != AreaRun::kRest;
    p.fill(box, is_block ? paints[run.band].block : paints[run.band].rest);
    if (is_block && box.height() >= p.px(kLeastEdge)) p.line_x(box.y0, box.x0, box.x1, paints[run.band].edge);
    if (is_block && box.height() >= p.px(kLeastEdge) && box.width() >= 3)
      p.line_y(box.x1 - 1, box.y0, box.y1, paints[run.band].edge);
    if (run.block == block_ && is_block) p.frame(box, colour(d.theme.selection), p.px(2));
    const bool has_room = box.width() >= p.px(kLeastLabelWidth) && box.height() >= p.px(kLeastLabelHeight);
    if (is_block && has_room && ++labels <= kMostLabels)
      p.text_in(Face::mono, {box.x0 + p.px(4), box.y0, box.x1 - p.px(2), box.y1},
                colour(band_paint(d.window, history, run.band).text),
                printable(history.bands()[run.band].place) + "  " + bytes_text(history.blocks()[run.block].size));
  }
  // What PyTorch holds of the device.
  float last_y = -1;
  auto at = reserved_.begin();
  for (std::uint32_t c = 0; c < areas_.moments.size(); ++c) {
    const std::size_t moment = areas_.moments[c];
    const std::uint32_t event = moment == 0 ? 0 : history.event_of(moment - 1);
    at = std::ranges::upper_bound(at, reserved_.end(), event, {}, [](const auto& r) { return r.first; });
    if (at != reserved_.begin()) --at;
    const float y = std::round(y_of(at->second)), x = chart_.x0 + static_cast<float>(c);
    p.line_x(y, x, x + 1, colour(d.theme.muted));
    if (last_y >= 0 && last_y != y) p.line_y(x, std::min(y, last_y), std::max(y, last_y), colour(d.theme.muted));
    last_y = y;
  }
  p.unclip();
  const std::int64_t step = round_step(static_cast<double>(most_) / std::max(2.0, static_cast<double>(chart_.height()) / 60.0));
  for (std::int64_t bytes = 0; bytes <= most_ && step > 0; bytes += step) {
    const float y = y_of(bytes);
    p.line_x(std::round(y), chart_.x0, chart_.x1, colour(d.theme.line, 0.5f));
    const std::string words = bytes_text(bytes);
    const float x = chart_.x0 - p.px(6) - p.text_width(Face::mono, words), line = ImGui::GetFontSize();
    p.text_in(Face::mono, {x, y - line / 2, chart_.x0, y + line / 2}, colour(d.theme.muted), words);
  }
}

// Steps, failures and the chosen moment.
void SnapshotPage::draw_marks(Drawing& d, const Box& strip) {
  Painter p(*ImGui::GetWindowDrawList(), d.window.frame.scale);
  const OpenedDevice& device = d.device(device_);
  const MemoryAxis on = axis(d.opened);
  const auto x_of = [&](Ns position) {
    return chart_.x0 + static_cast<float>(std::clamp(px_from_ns(view_.time, static_cast<double>(chart_.width()), position),
                                                     -10.0, static_cast<double>(chart_.width()) + 10));
  };
  p.clip({chart_.x0, strip.y0, chart_.x1, chart_.y1});
  if (device.steps.are_steps) {
    float last = -1;
    for (const std::uint32_t end : device.steps.ends) {
      const float x = std::round(x_of(on.position_of(end)));
      if (x >= chart_.x0 && x - last >= 3) p.line_y(last = x, chart_.y0, chart_.y1, colour(d.theme.line));
    }
  }
  float last = -1;
  for (const std::uint32_t event : device.device->ooms) {
    const float x = std::round(x_of(on.position_of(event) + MemoryAxis::kEvent / 2));
    if (x == last) continue;
    last = x;
    p.fill({x - 1, chart_.y0, x + 1, chart_.y1}, colour(d.theme.costly));
    const std::string_view words = "out of memory";
    const float width = p.text_width(Face::sans, words) + p.px(10), line = ImGui::GetFontSize() + p.px(4);
    const float x0 = x + width <= chart_.x1 ? x : x - width;
    p.fill({x0, chart_.y0, x0 + width, chart_.y0 + line}, colour(d.theme.costly));
    p.text_in(Face::sans, {x0 + p.px(5), chart_.y0, x0 + width, chart_.y0 + line}, colour(d.theme.background), words);
  }
  const Ns moment = wanted_ ? on.position_of(*wanted_) : on.reach().end;
  const float x = std::round(x_of(moment + (wanted_ && !by_time_ ? MemoryAxis::kEvent / 2 : 0)));
  p.line_y(x, chart_.y0, chart_.y1, colour(d.theme.selection));
  p.unclip();
}

void SnapshotPage::draw_annotations(Drawing& d, const Box& strip) {
  Painter p(*ImGui::GetWindowDrawList(), d.window.frame.scale);
  const Paint& paint = paint_of(d.window.settings.slice_colours, Hue::annotation, 0);
  const double width = static_cast<double>(chart_.width());
  p.clip(strip);
  float drawn_to = strip.x0 - 1;
  for (const AnnotationSpan& a : annotations_) {
    if (a.begin > view_.time.span.end) break;
    if (a.end < view_.time.span.begin) continue;
    const double x0 = std::max(px_from_ns(view_.time, width, a.begin), -1.0);
    const double x1 = std::min(std::max(px_from_ns(view_.time, width, a.end), x0 + 1), width + 1);
    const Box box{chart_.x0 + static_cast<float>(x0), strip.y0 + p.px(2), chart_.x0 + static_cast<float>(x1),
                  strip.y1 - p.px(1)};
    if (box.x1 <= drawn_to) continue;
    drawn_to = box.x1;
    p.fill(box, colour(paint.fill));
    p.line_y(box.x0, box.y0, box.y1, colour(paint.edge));
    const std::string name = printable(d.snapshot().texts[a.name]);
    if (box.width() > p.px(30)) p.text_in(Face::mono, {box.x0 + p.px(4), box.y0, box.x1, box.y1}, colour(paint.text), name);
    if (box.holds(ImGui::GetIO().MousePos) && ImGui::IsItemHovered()) draw_tooltip({box.x0, box.y0}, {box.x1, box.y1}, name);
  }
  p.unclip();
}

void SnapshotPage::draw_ticks(Drawing& d, const Box& ruler) {
  Painter p(*ImGui::GetWindowDrawList(), d.window.frame.scale);
  const double width = static_cast<double>(chart_.width());
  const auto tick = [&](Ns position, const std::string& label) {
    const double at = px_from_ns(view_.time, width, position);
    if (at < 0 || at >= width) return;
    const float x = std::round(chart_.x0 + static_cast<float>(at));
    p.line_y(x, ruler.y0, ruler.y0 + p.px(6), colour(d.theme.muted));
    if (x + p.text_width(Face::mono, label) <= ruler.x1)
      p.text_in(Face::mono, {x + p.px(4), ruler.y0, ruler.x1, ruler.y1}, colour(d.theme.muted), label);
  };
  if (by_time_) {
    const Ruler made = make_ruler(view_.time.span, width, static_cast<double>(p.px(kTickSpacing)), 0);
    for (const Tick& t : made.ticks)
      if (t.major) tick(t.time, made.offset.empty() ? t.label : made.offset + " " + t.label);
    return;
  }
  const double events = static_cast<double>(view_.time.span.length()) / MemoryAxis::kEvent;
  const std::int64_t step = round_step(events * static_cast<double>(p.px(kTickSpacing)) / width);
  const std::int64_t begin = std::max<std::int64_t>(view_.time.span.begin / MemoryAxis::kEvent, 0) / step * step;
  for (std::int64_t event = begin; event * MemoryAxis::kEvent <= view_.time.span.end; event += step)
    tick(event * MemoryAxis::kEvent, "event " + format_count(event));
}

void SnapshotPage::choose_at(Drawing& d, std::uint32_t column, std::int64_t bytes) {
  const BlockHistory& history = d.device(device_).history;
  const AreaRun* run = run_at(areas_, column, bytes);
  block_ = run && run->block != AreaRun::kRest ? std::optional(run->block) : std::nullopt;
  const std::size_t moment = areas_.moments[column];
  if (moment > 0) want(history.event_of(moment - 1));
}

void SnapshotPage::point_at_chart(Drawing& d) {
  const ImGuiIO& io = ImGui::GetIO();
  if (!chart_.holds(io.MousePos) || areas_.moments.empty()) return;
  const BlockHistory& history = d.device(device_).history;
  const auto column =
      std::min(static_cast<std::uint32_t>(io.MousePos.x - chart_.x0), static_cast<std::uint32_t>(areas_.moments.size() - 1));
  const auto bytes = static_cast<std::int64_t>(static_cast<double>(chart_.y1 - io.MousePos.y) /
                                               static_cast<double>(chart_.height()) * static_cast<double>(most_) * 1.02);
  const std::size_t moment = areas_.moments[column];
  Painter p(*ImGui::GetWindowDrawList(), d.window.frame.scale);
  p.line_y(std::round(io.MousePos.x), chart_.y0, chart_.y1, colour(d.theme.muted, 0.6f));
  std::string words;
  if (const AreaRun* run = run_at(areas_, column, bytes)) {
    words = printable(history.bands()[run->band].place) + '\n';
    words += run->block == AreaRun::kRest
                 ? bytes_text(run->high - run->low) + " in smaller blocks"
                 : bytes_text(history.blocks()[run->block].size) + " in one block; click: its stack and its life";
    words += '\n';
  }
  words += fmt::format("{} in use", bytes_text(history.total(moment)));
  if (moment > 0) {
    const std::uint32_t event = history.event_of(moment - 1);
    const auto& events = d.device(device_).device->events;
    words += fmt::format(" after event {}, {}", count_text(event),
                         format_duration((events[event].time_us - events.front().time_us) * 1000));
  }
  const ImVec2 at = io.MousePos;
  draw_tooltip({at.x, at.y}, {at.x + 1, at.y + 1}, words);
  const bool dragged = io.MouseDragMaxDistanceSqr[0] > io.MouseDragThreshold * io.MouseDragThreshold;
  if (ImGui::IsMouseReleased(0) && !dragged && chart_.holds(io.MouseClickedPos[0])) choose_at(d, column, bytes);
}

}  // namespace gapscope
