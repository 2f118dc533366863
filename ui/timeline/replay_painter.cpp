#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "core/analyze/kernel_name/shown_name.h"
#include "core/base/text.h"
#include "core/view/answers.h"
#include "core/view/document.h"
#include "core/view/timeline/ruler.h"
#include "ui/timeline/replay_rows.h"
#include "ui/timeline/timeline_scene.h"
#include "ui/whatif/whatif_panel.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

constexpr float kPathHeight = 18, kGpuHeight = 20, kRowsGap = 1;  // px at scale 1
constexpr std::size_t kMostGpus = 4;
constexpr float kGhost = 0.6f;         // strength of replayed work alongside recorded work
constexpr float kLeastPathLabel = 46;  // px at scale 1
constexpr float kPathLine = 3;         // px at scale 1, over slices
constexpr float kPathTint = 0.16f;     // over the host's lane
constexpr int kLeastHop = 3;           // columns of a stretch that is joined with its neighbour by a line
constexpr std::size_t kPiecesListed = 4;
constexpr Ns kMostExplained = 1000 * kNsPerMs;  // longer stretches of the host hold more slices than a frame may look at

const ReplayedRun& run_of(const ReplayRows& rows, bool after) { return after ? rows.answer->after : rows.base->now; }

// A row from `y` on, with its title; the box of its axis.
Box row_box(TimelineScene& scene, float y, float height, const std::string& title) {
  Painter& p = scene.painter;
  const Box &rows = scene.areas.replay, &titles = scene.areas.replay_titles;
  p.clip({titles.x0, rows.y0, titles.x1, rows.y1});
  p.text_in(Face::sans, {titles.x0 + p.px(10), y, titles.x1 - p.px(6), y + height}, colour(scene.theme.muted), title);
  p.unclip();
  p.line_x(y + height - p.hairline(), titles.x0, rows.x1, colour(scene.theme.line, 0.6f));
  return {rows.x0, y + p.px(1), rows.x1, y + height - p.px(2)};
}

std::string host_words(const TimelineScene& scene, const HostShare& share) {
  const ProgramKind program = program_kind(scene.document.trace);
  std::string out(idle_cause_title(share.piece.cause, program));
  if (share.piece.slice) out += ": " + printable(shown_name(scene.document.trace, share.piece.slice));
  return out;
}

// Of a stretch of the host's own.
const std::vector<HostShare>& shares_of(const TimelineScene& scene, bool after, std::uint32_t position) {
  PathShares& looked_at = after ? scene.caches.replayed_path : scene.caches.recorded_path;
  const std::shared_ptr<const void> of = after ? std::shared_ptr<const void>(scene.replay.answer) : scene.replay.base;
  if (looked_at.of != of) looked_at = {of, {}};
  const auto [at, is_new] = looked_at.shares.try_emplace(position);
  const ReplayedRun& run = run_of(scene.replay, after);
  const PathStretch& stretch = run.path.path()[position];
  if (is_new && stretch.old.length() <= kMostExplained)
    at->second = host_of_stretch(scene.document.trace, scene.replay.base->host, run, stretch);
  return at->second;
}

// What a wide stretch says in its box.
std::string label_of(const TimelineScene& scene, bool after, std::uint32_t position) {
  const PathStretch& stretch = run_of(scene.replay, after).path.path()[position];
  if (stretch.by == HeldBy::queue || stretch.by == HeldBy::collective)
    return std::string(label_text(scene.document.trace, stretch.slice));
  if (stretch.by != HeldBy::host) return std::string(held_by_words(stretch.by));
  const std::vector<HostShare>& shares = shares_of(scene, after, position);
  if (shares.empty()) return "host";
  if (!shares.front().piece.slice) return "host: " + host_words(scene, shares.front());
  return "host: " + printable(shown_name(scene.document.trace, shares.front().piece.slice));
}

void draw_path_row(TimelineScene& scene, const Box& box, bool after) {
  Painter& p = scene.painter;
  const PathRow& row = run_of(scene.replay, after).path;
  std::vector<PathRect> rects;
  row.paint(scene.grid, rects);
  p.clip(box);
  for (const PathRect& rect : rects) {
    const Box at{scene.window_x(rect.x0), box.y0, scene.window_x(rect.x1), box.y1};
    p.fill(at, colour(held_colour(rect.by, scene.window)));
    if (rect.count == 1 && at.width() > p.px(4))
      p.fill({at.x1 - p.hairline(), at.y0, at.x1, at.y1}, colour(scene.theme.background));
    scene.zones.add({ZoneKind::path,
                     at.x0,
                     at.y0,
                     at.x1,
                     at.y1,
                     row.path()[rect.longest].slice,
                     {},
                     {},
                     rect.longest,
                     rect.count,
                     row.path()[rect.longest].span,
                     after ? 1u : 0u});
    if (rect.count > 1 || at.width() < p.px(kLeastPathLabel)) continue;
    std::string label;
    fit_label(label_of(scene, after, rect.longest), at.width() - p.px(8), scene.widths, label);
    const Hue hue = rect.by == HeldBy::host         ? Hue::op
                    : rect.by == HeldBy::start      ? Hue::python
                    : rect.by == HeldBy::collective ? Hue::collective
                    : rect.by == HeldBy::wait       ? Hue::call
                                                    : Hue::gemm;
    p.text_in(Face::mono, {at.x0 + p.px(4), at.y0, at.x1, at.y1},
              colour(paint_of(scene.window.settings.slice_colours, hue, 0).text), label);
  }
  p.unclip();
}

void draw_gpu_row(TimelineScene& scene, const Box& box, const ReplayedRow& row) {
  Painter& p = scene.painter;
  std::vector<SliceRect> rects;
  std::vector<VisibleItem> scratch;
  paint_row(scene.document.trace, row.slices(), scene.grid, box.y0, box.height(), *scene.caches.colours, scratch, rects);
  std::vector<CounterColumn> busy;
  row.busy().columns(scene.grid, busy);
  p.clip(box);
  for (const SliceRect& rect : rects) {
    const Paint& paint = paint_of(scene.window.settings.slice_colours, rect.colour.hue, rect.colour.shade);
    const Box at{scene.window_x(rect.x0), box.y0, scene.window_x(rect.x1), box.y1};
    const ImU32 ink = colour(blend(scene.theme.background, paint.fill, kGhost));
    if (rect.count == 1 && rect.width() > 2) {
      p.fill(at, ink);
      p.fill({at.x1 - p.hairline(), at.y0, at.x1, at.y1}, colour(scene.theme.background));
    } else {
      for (int x = rect.x0; x < rect.x1; ++x) {
        const auto share = static_cast<float>(std::min(1.0, busy[static_cast<std::size_t>(x)].high));
        const float height = std::clamp(std::round(share * box.height()), p.px(1), box.height());
        p.fill({scene.window_x(x), box.y1 - height, scene.window_x(x + 1), box.y1}, ink);
      }
    }
    scene.zones.add({ZoneKind::replayed, at.x0, at.y0, at.x1, at.y1, rect.slice, {}, {}, 0, rect.count, rect.span});
    if (rect.count > 1 || at.width() < p.px(kLeastPathLabel)) continue;
    std::string label;
    fit_label(label_text(scene.document.trace, rect.slice), at.width() - p.px(8), scene.widths, label);
    p.text_in(Face::mono, {at.x0 + p.px(4), at.y0, at.x1, at.y1}, colour(scene.theme.text), label);
  }
  p.unclip();
}

// Where replayed steps, or the run where it has none, end.
void draw_ends(TimelineScene& scene, float y0, float y1) {
  Painter& p = scene.painter;
  const ReplayResult& result = scene.replay.answer->after.result;
  const auto end = [&](Ns t, ImU32 ink) {
    const int x = scene.grid.column(t);
    if (x >= 0 && x < scene.grid.width()) p.line_y(scene.window_x(x), y0, y1, ink);
  };
  if (result.steps.size() <= static_cast<std::size_t>(scene.grid.width()))
    for (const ReplayedStep& step : result.steps) end(step.after.end, colour(scene.theme.text, 0.5f));
  end(result.run.end, colour(scene.theme.accent));
}

// What the row is empty for: in words, where there is room for them behind the end.
void draw_end_words(TimelineScene& scene, float y) {
  Painter& p = scene.painter;
  const ReplayResult& result = scene.replay.answer->after.result;
  const Span& visible = scene.view.time.span;
  if (result.run.end >= visible.end || result.gain() <= 0) return;
  const std::string when = exact_time_text(result.run.end - axis_zero(scene.view, scene.document.trace.span));
  const std::string text =
      result.run.end < visible.begin ? "the run ended at " + when : "ends " + format_duration(result.gain()) + " earlier";
  const Box& rows = scene.areas.replay;
  const float x0 = std::max(rows.x0, scene.window_x(scene.grid.column(result.run.end))) + p.px(6);
  if (x0 + p.text_width(Face::sans, text) > rows.x1) return;
  p.text_in(Face::sans, {x0, y, rows.x1, y + p.px(kGpuHeight)}, colour(scene.theme.muted), text);
}

// Where a column of the path is among the lanes.
struct OverPlace {
  float y0 = 0, y1 = 0;  // px of the window: of the slice; of the host's lane
  const Box* part = nullptr;
};
std::optional<OverPlace> over_place(const TimelineScene& scene, const PathStretch& stretch) {
  const Trace& trace = scene.document.trace;
  if (!stretch.slice) return std::nullopt;
  if (stretch.by != HeldBy::host) {
    const auto place = scene.layout.place_of(trace, stretch.slice);
    if (!place || place->band->kind != BandKind::lane) return std::nullopt;
    const float y = scene.window_y(place->strip.y);
    return OverPlace{y, y + place->strip.height, &scene.lane_window.part_of(place->strip.y)};
  }
  const Band* band = scene.layout.band_of(trace.lane_id(stretch.slice));
  if (!band || band->kind != BandKind::lane) return std::nullopt;
  const float y = scene.window_y(scene.layout.strip(*band, 0).y);
  return OverPlace{y - scene.painter.px(kPathLine), scene.window_y(band->y) + band->height,
                   &scene.lane_window.part_of(band->y)};
}

}  // namespace

std::size_t ReplayRows::gpus() const { return answer ? std::min(answer->rows.size(), kMostGpus) : 0; }

float ReplayRows::height(float scale) const {
  const auto paths = static_cast<float>(with_path ? (gpus() > 0 ? 2 : 1) : 0);
  const float rows = std::round(kPathHeight * scale) * paths + std::round(kGpuHeight * scale) * static_cast<float>(gpus());
  return rows > 0 ? rows + std::round(kRowsGap * scale) : 0;
}

ReplayRows replay_rows_of(const Document& document, const TraceView& view) {
  ReplayRows out;
  const WhatIfState& state = view.what_if;
  out.base = answer_to<ReplayBaseQuestion>(document);
  out.with_path = state.path && !document.trace.is_part;
  const auto answer = answer_to<WhatIfQuestion>(document);
  if (out.base && state.ghost && !state.changes.empty() && answer && !answer->changes.empty()) out.answer = answer;
  return out;
}

void draw_replay_rows(TimelineScene& scene) {
  const ReplayRows& rows = scene.replay;
  const Box& box = scene.areas.replay;
  if (box.height() < 1) return;
  Painter& p = scene.painter;
  p.fill({scene.areas.replay_titles.x0, box.y0, box.x0, box.y1}, colour(scene.theme.surface));
  p.fill(box, colour(scene.theme.background));
  float y = box.y0;
  const bool ready = rows.base && !rows.base->model->empty();
  if (rows.with_path) {
    const Box row = row_box(scene, y, p.px(kPathHeight), "critical path");
    if (ready)
      draw_path_row(scene, row, false);
    else
      p.text_in(Face::sans, row, colour(scene.theme.muted), rows.base ? "  no GPU work to replay" : "  computing...");
    y += p.px(kPathHeight);
  }
  const float first_gpu = y;
  for (std::size_t i = 0; i < rows.gpus(); ++i, y += p.px(kGpuHeight))
    draw_gpu_row(scene,
                 row_box(scene, y, p.px(kGpuHeight), fmt::format("GPU {} with the changes", rows.answer->rows[i]->device())),
                 *rows.answer->rows[i]);
  if (rows.with_path && rows.gpus() > 0) {
    draw_path_row(scene, row_box(scene, y, p.px(kPathHeight), "critical path then"), true);
    y += p.px(kPathHeight);
  }
  if (rows.gpus() > 0) {
    draw_ends(scene, first_gpu, y);
    draw_end_words(scene, first_gpu);
  }
  p.line_x(box.y1 - p.hairline(), scene.areas.replay_titles.x0, box.x1, colour(scene.theme.line));
  p.line_y(box.x0 - p.hairline(), box.y0, box.y1, colour(scene.theme.line));
}

void draw_path_over_slices(TimelineScene& scene) {
  const ReplayRows& rows = scene.replay;
  if (!rows.with_path || !rows.base || rows.base->model->empty()) return;
  Painter& p = scene.painter;
  const PathRow& path = rows.base->now.path;
  std::vector<PathRect> rects;
  path.paint(scene.grid, rects);
  const PathRect* last = nullptr;
  std::optional<OverPlace> last_place;
  for (const PathRect& rect : rects) {
    const std::optional<OverPlace> place = over_place(scene, path.path()[rect.longest]);
    const Rgb ink = held_colour(rect.by, scene.window);
    if (place) {
      const Box at{scene.window_x(rect.x0), place->y0, scene.window_x(rect.x1), place->y1};
      const float line = p.px(kPathLine);
      p.clip(*place->part);
      if (rect.by == HeldBy::host) p.fill({at.x0, at.y0 + line, at.x1, at.y1}, colour(ink, kPathTint));
      const float y = rect.by == HeldBy::host ? at.y0 : at.y1 - line;
      p.fill({at.x0, y, at.x1, y + line}, colour(rect.by == HeldBy::host ? ink : scene.theme.selection));
      p.unclip();
    }
    const bool wide = last && rect.x1 - rect.x0 >= kLeastHop && last->x1 - last->x0 >= kLeastHop && last->x1 == rect.x0;
    if (wide && place && last_place && place->y0 != last_place->y0)
      p.line_y(scene.window_x(rect.x0), std::min(place->y0, last_place->y0), std::max(place->y0, last_place->y0),
               colour(scene.theme.selection, 0.5f));
    last = &rect;
    last_place = place;
  }
}

void draw_replayed_lines(const TimelineScene& scene, const Zone& zone) {
  const Trace& trace = scene.document.trace;
  const auto muted = [&](const std::string& text) { draw_text(Face::sans, scene.theme.muted, text); };
  if (zone.count > 1) {
    draw_text(Face::sans, scene.theme.text,
              format_count(zone.count) + " operations within " + format_duration(zone.span.length()) + ", replayed");
    muted("zoom in to separate them. The longest:");
  }
  draw_text(Face::mono, scene.theme.text, printable(shown_name(trace, zone.slice)), /*wrap=*/true);
  if (zone.count > 1) return;
  const Span old = trace.span_of(zone.slice);
  draw_text(
      Face::sans, scene.theme.text,
      fmt::format("{} with the changes, {} as recorded", format_duration(zone.span.length()), format_duration(old.length())));
  const Ns by = zone.span.begin - old.begin;
  muted(by == 0 ? "begins when it did"
                : fmt::format("begins {} {}", format_duration(std::abs(by)), by < 0 ? "earlier" : "later"));
}

void draw_path_lines(const TimelineScene& scene, const Zone& zone) {
  if (!scene.replay.base || (zone.place == 1 && !scene.replay.answer)) return;
  const PathRow& row = run_of(scene.replay, zone.place == 1).path;
  if (zone.first >= row.path().size()) return;
  const PathStretch& stretch = row.path()[zone.first];
  const Trace& trace = scene.document.trace;
  const auto muted = [&](const std::string& text) { draw_text(Face::sans, scene.theme.muted, text, /*wrap=*/true); };
  if (zone.count > 1) muted(format_count(zone.count) + " stretches here, the longest:");
  draw_text(Face::bold, scene.theme.text,
            fmt::format("{} is the bottleneck for {}",
                        stretch.by == HeldBy::host    ? "The host"
                        : stretch.by == HeldBy::start ? "A start"
                        : stretch.by == HeldBy::queue ? "GPU work"
                        : stretch.by == HeldBy::wait  ? "Returning from synchronization"
                                                      : "Communication",
                        format_duration(stretch.span.length())));
  const std::string name = stretch.slice ? printable(shown_name(trace, stretch.slice)) : std::string();
  if (stretch.by == HeldBy::host) {
    muted(name.empty() ? "after its last call" : "on its way to " + name);
    std::size_t listed = 0;
    for (const HostShare& share : shares_of(scene, zone.place == 1, zone.first))
      if (listed++ < kPiecesListed) muted(format_duration(share.time) + "  " + host_words(scene, share));
  } else {
    muted(stretch.by == HeldBy::start ? "launch latency: " + name : name);
  }
}

}  // namespace gapscope
