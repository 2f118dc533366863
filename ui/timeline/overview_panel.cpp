// The whole trace in one strip: GPU busy over CPU busy, and the visible window as a frame that can be dragged.
#include <algorithm>
#include <cmath>

#include "core/view/document.h"
#include "ui/timeline/timeline_panel.h"

#include "core/view/answers.h"

namespace gapscope {
namespace {

constexpr float kHandle = 5;      // px on either side of an edge of the frame that take it
constexpr float kLeastFrame = 4;  // the frame stays visible when zoomed far in
constexpr float kStripGap = 3;
constexpr float kGpuShare = 0.62f;
constexpr float kTickHeight = 4;
constexpr float kHitHeight = 6;
constexpr float kDimDark = 0.6f, kDimLight = 0.35f;  // of what is outside the view; more white would wash it out

// The overview's own axis: all of the trace with its margin.
float overview_x(Span reach, const Box& box, Ns t) {
  return box.x0 + static_cast<float>(px_from_ns(fit(reach), static_cast<double>(box.width()), t));
}

Ns overview_time(Span reach, const Box& box, float x) {
  return ns_from_px(fit(reach), static_cast<double>(box.width()), static_cast<double>(x - box.x0));
}

Box frame_box(Span reach, const TraceView& view, const WindowState& window, const Box& box) {
  float x0 = overview_x(reach, box, view.time.span.begin);
  float x1 = overview_x(reach, box, view.time.span.end);
  const float missing = kLeastFrame * window.frame.scale - (x1 - x0);
  if (missing > 0) {
    x0 -= missing / 2;
    x1 += missing / 2;
  }
  return {std::max(box.x0, std::floor(x0)), box.y0, std::min(box.x1, std::ceil(x1)), box.y1};
}

// `span`: what the strip is of. The part of it that `top` is of is drawn in another colour.
void draw_strip(Painter& painter, Span span, Span reach, const std::vector<float>& strip, const Box& box, Rgb ink,
                const std::vector<float>* top = nullptr, Rgb top_ink = {}) {
  if (strip.empty()) return;
  const float x0 = overview_x(reach, box, span.begin);
  const float x1 = overview_x(reach, box, span.end);
  const double width = static_cast<double>(x1 - x0);
  const ImU32 fill = colour(ink, 0.85f);
  for (float x = std::floor(x0); x < x1; x += 1) {
    const double from = static_cast<double>(x - x0) / width;
    const float busy = mean_of(strip, from, from + 1 / width);
    if (busy <= 0) continue;
    const float height = std::max(1.0f, std::round(busy * box.height()));
    const float other = top && !top->empty() ? std::round(mean_of(*top, from, from + 1 / width) * box.height()) : 0;
    painter.fill({x, box.y1 - height + std::min(other, height), x + 1, box.y1}, fill);
    if (other > 0) painter.fill({x, box.y1 - height, x + 1, box.y1 - height + std::min(other, height)}, colour(top_ink, 0.85f));
  }
}

// A tick for every pixel column in which a shown finding begins, in the colour of the worst.
void draw_ticks(Painter& painter, Span reach, const LaneFindings& findings, const Box& box, const Theme& theme) {
  std::vector<std::int8_t> worst(static_cast<std::size_t>(std::max(1.0f, box.width())), -1);
  for (const auto& lane : findings.marks) {
    for (const LaneFindings::Mark& mark : lane) {
      const float x = overview_x(reach, box, mark.span.begin) - box.x0;
      if (x < 0 || x >= box.width()) continue;
      std::int8_t& at = worst[static_cast<std::size_t>(x)];
      at = std::max(at, static_cast<std::int8_t>(mark.severity));
    }
  }
  const float height = painter.px(kTickHeight);
  for (std::size_t x = 0; x < worst.size(); ++x) {
    if (worst[x] < 0) continue;
    const float left = box.x0 + static_cast<float>(x);
    painter.fill({left, box.y0, left + painter.px(2), box.y0 + height},
                 colour(severity_colour(static_cast<Severity>(worst[x]), theme)));
  }
}

// A tick from below for every pixel column in which a search hit begins.
void draw_hits(Painter& painter, const std::vector<bool>& columns, const Box& box, const Theme& theme) {
  const float height = painter.px(kHitHeight);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const float x = box.x0 + static_cast<float>(i);
    if (columns[i]) painter.fill({x, box.y1 - height, x + painter.px(2), box.y1}, colour(theme.selection));
  }
}

// Of one of two traces: its GPU, or its CPU where it has no GPU work.
const char* title_of_two(const BusyStrips& overview, bool is_a, bool part) {
  if (!overview.gpu.empty()) return is_a ? "A: GPU busy" : "B: GPU busy";
  if (!overview.cpu.empty()) return is_a ? "A: CPU busy" : "B: CPU busy";
  return part ? (is_a ? "A: loading" : "B: loading") : is_a ? "A: no work" : "B: no work";
}

void draw_strip_title(Painter& painter, const Theme& theme, const Box& box, const char* title) {
  const float width = painter.text_width(Face::sans, title);
  painter.text_in(Face::sans, {box.x1 - width - painter.px(8), box.y0, box.x1, box.y1}, colour(theme.muted), title);
}

}  // namespace

void TimelinePanel::overview(const Document& document, const TraceView& view, const WindowState& window, Painter& painter,
                             const OverviewBelow* below) {
  const Span reach = axis_reach(view, document.trace.span);
  const Theme& theme = theme_of(window);
  const Box& box = areas_.overview;
  const Box& titles = areas_.overview_titles;
  painter.fill({titles.x0, box.y0, box.x1, box.y1}, colour(theme.surface));
  painter.fill(box, colour(theme.background));
  const float gap = painter.px(kStripGap);
  // Of one trace the GPU, which it is about, has two thirds of the height.
  const float middle = std::floor(below ? (box.y0 + box.y1) / 2 : box.y0 + box.height() * kGpuShare);
  painter.clip(box);
  const Box gpu{box.x0, box.y0 + gap, box.x1, middle - 1};
  const Box cpu{box.x0, middle + gap - 1, box.x1, box.y1 - gap};
  const Rgb gpu_ink = paint_of(window.settings.slice_colours, Hue::gemm, 0).fill,
            cpu_ink = paint_of(window.settings.slice_colours, Hue::op, 0).fill;
  const Rgb communication_ink = paint_of(window.settings.slice_colours, Hue::collective, 0).fill;
  add_communication(document, overview_);
  if (below) add_communication(below->document, below->timeline.overview_);
  const auto one_of_two = [&](const BusyStrips& of, Span span, const Box& strip) {
    if (of.gpu.empty()) return draw_strip(painter, span, reach, of.cpu, strip, cpu_ink);
    draw_strip(painter, span, reach, of.gpu, strip, gpu_ink, &of.communication, communication_ink);
  };
  const Span span = document.trace.span;
  if (below) {
    one_of_two(overview_, span, gpu);
    const Span other = below->document.trace.span;
    one_of_two(below->timeline.overview_, {other.begin - below->way, other.end - below->way}, cpu);
  } else {
    draw_strip(painter, span, reach, overview_.gpu, gpu, gpu_ink, &overview_.communication, communication_ink);
    draw_strip(painter, span, reach, overview_.cpu, cpu, cpu_ink);
  }
  const Box frame = frame_box(reach, view, window, box);
  const float dim = window.settings.theme == ThemeName::light ? kDimLight : kDimDark;
  painter.fill({box.x0, box.y0, frame.x0, box.y1}, colour(theme.background, dim));
  painter.fill({frame.x1, box.y0, box.x1, box.y1}, colour(theme.background, dim));
  painter.frame(frame, colour(theme.accent, 0.9f), painter.hairline());
  const auto marks = [&](TimelinePanel& of, const Trace& trace, const std::shared_ptr<const SearchAnswer>& found,
                         Span its_reach, const Box& in) {
    draw_ticks(painter, its_reach, of.findings_, in, theme);
    draw_hits(painter, of.hit_columns_.of(trace, found, static_cast<int>(in.width()), its_reach), in, theme);
  };
  marks(*this, document.trace, answer_to<SearchQuestion>(document), reach, below ? Box{box.x0, box.y0, box.x1, middle} : box);
  if (below)
    marks(below->timeline, below->document.trace, below->found, {reach.begin + below->way, reach.end + below->way},
          {box.x0, middle, box.x1, box.y1});
  painter.unclip();
  const bool part = document.trace.is_part;
  draw_strip_title(painter, theme, {titles.x0, gpu.y0, titles.x1, gpu.y1},
                   below                    ? title_of_two(overview_, true, part)
                   : !overview_.gpu.empty() ? "GPU busy"
                   : part                   ? "GPU: loading"
                                            : "no GPU work");
  draw_strip_title(painter, theme, {titles.x0, cpu.y0, titles.x1, cpu.y1},
                   below                    ? title_of_two(below->timeline.overview_, false, below->document.trace.is_part)
                   : !overview_.cpu.empty() ? "CPU busy"
                   : part                   ? "CPU: loading"
                                            : "no CPU work");
  painter.line_x(box.y1 - painter.hairline(), titles.x0, box.x1, colour(theme.line));
  painter.line_y(titles.x1 - painter.hairline(), titles.y0, titles.y1, colour(theme.line));
}

// A press takes an edge of the frame, or the frame; outside, it brings the frame there first.
void TimelinePanel::overview_grab(const Document& document, TraceView& view, const WindowState& window) {
  const Span reach = axis_reach(view, document.trace.span);
  const Box& box = areas_.overview;
  const ImVec2 at = ImGui::GetIO().MousePos;
  const Box frame = frame_box(reach, view, window, box);
  const float handle = kHandle * window.frame.scale;
  const bool on_begin = std::abs(at.x - frame.x0) <= handle;
  const bool on_end = std::abs(at.x - frame.x1) <= handle;
  if (ImGui::IsItemHovered() && (on_begin || on_end)) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  if (!ImGui::IsItemActivated()) return;
  grip_ = on_end ? OverviewGrip::end : on_begin ? OverviewGrip::begin : OverviewGrip::window;
  if (grip_ != OverviewGrip::window || frame.holds(at)) return;
  const Ns half = view.time.span.length() / 2;
  const Ns middle = overview_time(reach, box, at.x);
  view.time = within_limits({{middle - half, middle + half}, 0, 0}, reach);
}

void TimelinePanel::overview_drag(const Document& document, TraceView& view, const WindowState& window) {
  const Box& box = areas_.overview;
  ImGui::SetCursorScreenPos({box.x0, box.y0});
  ImGui::InvisibleButton("overview", {box.width(), box.height()});
  overview_grab(document, view, window);
  if (!ImGui::IsItemActive()) grip_ = OverviewGrip::none;
  const float moved = ImGui::GetIO().MouseDelta.x;
  if (grip_ == OverviewGrip::none || moved == 0) return;
  view.move.active = false;
  const Span reach = axis_reach(view, document.trace.span);
  const double whole = visible_ns(fit(reach));
  const double widths = static_cast<double>(moved / box.width()) * whole / visible_ns(view.time);
  if (grip_ == OverviewGrip::window) {
    view.time = panned(view.time, widths, reach);
    return;
  }
  ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  const bool end = grip_ == OverviewGrip::end;
  view.time = zoomed(view.time, std::max(0.01, 1 + (end ? widths : -widths)), end ? 0 : 1, reach);
}

}  // namespace gapscope
