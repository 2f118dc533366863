// The gaps of a GPU: strips under its rows of kernels in the colours of their causes, with labels in the empty rows; the chosen
// one with what the host was in.
#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "core/base/text.h"
#include "core/view/document.h"
#include "ui/timeline/timeline_scene.h"

namespace gapscope {
namespace {

constexpr float kLeastLabelled = 44;
constexpr float kLeastWait = 0.3f;  // strength of a strip's colour where the GPU hardly waited
constexpr float kWaitShades = 4;    // steps from there to waiting all the time
constexpr float kLeastWork = 1;     // px of a kernel, however little of its columns it fills
constexpr int kWideSlice = 24;      // px; both edge columns of a wider slice are taken for full
constexpr std::size_t kMostSlices = 5;
constexpr float kArrow = 7;
constexpr std::size_t kMostRowsKept = 512;  // more than a screen has

const DeviceAccount* device_of(const TimelineScene& scene, const Band& band) {
  const TimeAccount* account = account_of(scene.document);
  const Process& process = scene.document.trace.processes[band.process.index()];
  return account && process.is_gpu && band.stream ? account->device(process.device) : nullptr;
}

// From the first row of kernels to the last.
Box rows_box(const TimelineScene& scene, const Band& band, int x0, int x1) {
  const LaneLayout::Strip top = scene.layout.strip(band, 0),
                          bottom = scene.layout.strip(band, band.collapsed ? 0 : band.depths - 1);
  return {scene.window_x(x0), scene.window_y(top.y), scene.window_x(x1),
          scene.window_y(top.y) + bottom.y + bottom.height - top.y};
}

// The first of the texts that has room, in the middle of the box.
void draw_first_fitting(TimelineScene& scene, const Box& box, const std::vector<std::string>& texts) {
  Painter& p = scene.painter;
  for (const std::string& text : texts) {
    const float width = p.text_width(Face::mono, text);
    if (width > box.width() - p.px(8)) continue;
    const float x = std::floor((box.x0 + box.x1 - width) / 2);
    return p.text_in(Face::mono, {x, box.y0, x + width + 1, box.y1}, colour(scene.theme.text), text);
  }
}

// "host: aten::addmm 534 us", or the parts of it that there is room for: in the row, which is empty there. A gap with several
// causes has a label for each, over its own stretch.
void draw_gap_label(TimelineScene& scene, const Box& box, const DeviceAccount& device, std::size_t at) {
  Painter& p = scene.painter;
  if (box.width() < p.px(kLeastLabelled) || box.height() < font_size(Face::mono)) return;
  const auto [known, is_new] = scene.caches.gap_labels.try_emplace({device.device, at});
  GapWords& words = known->second;
  if (is_new) words = {gap_texts(device, at, gap_label(scene.document, device, at)), gap_parts(scene.document, device, at)};
  const auto box_of = [&](Span span) {
    return Box{std::max(box.x0, scene.window_x(std::max(0, scene.grid.column(span.begin)))), box.y0,
               std::min(box.x1, scene.window_x(std::min(scene.grid.width(), scene.grid.column(span.end)))), box.y1};
  };
  std::size_t wide = 0;
  for (const GapPart& part : words.parts) wide += box_of(part.span).width() >= p.px(kLeastLabelled);
  if (wide == 0) return draw_first_fitting(scene, box, words.texts);  // in the middle of what shows of it
  for (const GapPart& part : words.parts) draw_first_fitting(scene, box_of(part.span), part.texts);
}

void draw_gap(TimelineScene& scene, const Band& band, const DeviceAccount& device, const GapRect& rect, bool first_row) {
  const DeviceGap& gap = device.gaps[rect.gap];
  const Box box = rows_box(scene, band, rect.x0, rect.x1);
  const LaneLayout::Strip waits = scene.layout.waits_strip(band);
  scene.zones.add({ZoneKind::gap,
                   box.x0,
                   box.y0,
                   box.x1,
                   band.stream ? box.y1 + waits.height : box.y1,
                   {},
                   band.lane,
                   band.process,
                   static_cast<std::uint32_t>(rect.gap),
                   1,
                   gap.span});
  if (first_row) draw_gap_label(scene, box, device, rect.gap);
}

// Columns side by side that look alike are one box.
class ShareBoxes {
 public:
  explicit ShareBoxes(Painter& painter) : painter_(painter) {}
  ~ShareBoxes() { flush(); }
  ShareBoxes(const ShareBoxes&) = delete;
  ShareBoxes& operator=(const ShareBoxes&) = delete;

  void add(const Box& box, ImU32 ink) {
    const bool goes_on = ink == ink_ && box.x0 == box_.x1 && box.y0 == box_.y0 && box.y1 == box_.y1;
    if (!goes_on) flush();
    box_ = goes_on ? Box{box_.x0, box_.y0, box.x1, box_.y1} : box;
    ink_ = ink;
  }

 private:
  void flush() {
    if (box_.width() > 0) painter_.fill(box_, ink_);
    box_ = {};
  }
  Painter& painter_;
  Box box_;
  ImU32 ink_ = 0;
};

// Takes away from each column of a row what the stream was not busy for. What rounding to pixels adds or loses is made up for
// by the next column, so that a stretch is as full as its stream was busy.
void draw_busy_row(TimelineScene& scene, const Band& band, std::uint32_t depth) {
  const LaneLayout::Strip strip = scene.layout.strip(band, depth);
  const float y0 = scene.window_y(strip.y);
  const RowSlices row = row_of(scene.document.trace, scene.document.lanes, band, depth);
  const RowBusy& busy = scene.caches.rows_busy.try_emplace(row.begin.data(), row).first->second;
  const std::span<const CounterColumn> columns = scene.caches.counter_columns.of(busy, scene.grid);
  ShareBoxes boxes(scene.painter);
  const auto busy_px = [&](int x) { return static_cast<float>(columns[static_cast<std::size_t>(x)].high) * strip.height; };
  float rest = 0;
  const auto hand_on = [&](float px) { rest = std::clamp(rest + px, -strip.height, strip.height); };
  int done = 0;
  for (const SliceRect& rect : scene.rects) {
    if (rect.y != strip.y) continue;
    for (int x = done; x < rect.x0; ++x) hand_on(busy_px(x));  // what is folded into a neighbour
    done = rect.x1;
    if (rect.count == 1 && rect.width() > kWideSlice) {
      hand_on(busy_px(rect.x0) + busy_px(rect.x1 - 1) - 2 * strip.height);
      continue;
    }
    for (int x = rect.x0; x < rect.x1; ++x) {
      const float wanted = busy_px(x) + rest;
      const float work = std::clamp(std::round(wanted), kLeastWork, strip.height);
      rest = 0;
      hand_on(wanted - work);
      if (work < strip.height)
        boxes.add({scene.window_x(x), y0, scene.window_x(x + 1), y0 + strip.height - work}, colour(scene.theme.background));
    }
  }
}

// In the colour of the main cause of each column; fainter where the GPU was idle for a part of it only.
void draw_waits(TimelineScene& scene, const Band& band, const DeviceAccount& device) {
  const IdleSums& sums = scene.caches.idle_sums.try_emplace(device.device, device).first->second;
  const LaneLayout::Strip strip = scene.layout.waits_strip(band);
  const float y0 = scene.window_y(strip.y), y1 = y0 + strip.height;
  const bool is_light = scene.window.settings.theme == ThemeName::light;
  ShareBoxes boxes(scene.painter);
  const std::span<const CounterColumn> columns = scene.caches.counter_columns.of(sums, scene.grid);
  for (std::size_t x = 0; x < columns.size(); ++x) {
    const auto share = static_cast<float>(std::min(1.0, columns[x].high));
    if (share <= 0) continue;
    const Rgb rgb = look_of(static_cast<IdleCause>(static_cast<int>(columns[x].low)), is_light).rgb;
    const float strength = kLeastWait + (1 - kLeastWait) * std::round(share * kWaitShades) / kWaitShades;
    const int column = static_cast<int>(x);
    boxes.add({scene.window_x(column), y0, scene.window_x(column + 1), y1},
              colour(blend(scene.theme.background, rgb, strength)));
  }
}

void draw_arrow(TimelineScene& scene, ImVec2 start, ImVec2 end, Rgb rgb, float alpha) {
  Painter& p = scene.painter;
  const float size = p.px(kArrow), way = end.y < start.y ? size : -size;  // it comes from below, or from above
  const float pull = std::max(p.px(16), std::abs(end.y - start.y) * 0.5f) * (end.y < start.y ? -1.0f : 1.0f);
  for (const bool under : {true, false})
    p.list().AddBezierCubic(start, {start.x, start.y + pull}, {end.x, end.y - pull}, {end.x, end.y + way},
                            colour(under ? scene.theme.background : rgb, under ? alpha * 0.7f : alpha), p.px(under ? 4 : 2));
  p.list().AddTriangleFilled(end, {end.x - size * 0.6f, end.y + way}, {end.x + size * 0.6f, end.y + way}, colour(rgb, alpha));
  p.list().AddCircleFilled(start, p.px(3), colour(rgb, alpha));
}

}  // namespace

void draw_gaps(TimelineScene& scene) {
  std::int32_t last_device = -1;
  std::vector<GapRect> rects;
  for (std::size_t i = scene.first_band; i < scene.last_band; ++i) {
    const Band& band = scene.layout.bands()[i];
    const DeviceAccount* device = band.kind == BandKind::lane ? device_of(scene, band) : nullptr;
    if (!device) continue;
    const bool first_row = device->device != last_device;
    if (first_row) {
      rects.clear();
      paint_gaps(*device, scene.grid, rects);
      if (!band.collapsed) draw_waits(scene, band, *device);
    }
    last_device = device->device;
    for (const GapRect& rect : rects) draw_gap(scene, band, *device, rect, first_row);
  }
}

void draw_busy_shares(TimelineScene& scene) {
  // Rows that have scrolled by are let go: a stream may have as many as it has kernels.
  if (scene.caches.rows_busy.size() > kMostRowsKept) {
    scene.caches.rows_busy.clear();
    scene.caches.counter_columns.clear();  // which go by where those lay
  }
  for (std::size_t i = scene.first_band; i < scene.last_band; ++i) {
    const Band& band = scene.layout.bands()[i];
    if (band.kind != BandKind::lane || !band.stream || band.collapsed) continue;
    const auto [top, bottom] = scene.lane_window.seen_around(band.y);
    const auto [first, last] = scene.layout.depths_in(band, top, bottom);
    for (std::uint32_t depth = first; depth < last; ++depth) draw_busy_row(scene, band, depth);
  }
}

void draw_chosen_gap(TimelineScene& scene) {
  const GapPlace chosen = chosen_gap(scene.document, scene.view);
  if (!chosen.gap) return;
  Painter& p = scene.painter;
  std::optional<Box> whole;
  for (const Band& band : scene.layout.bands()) {
    if (band.kind != BandKind::lane || device_of(scene, band) != chosen.device) continue;
    const int x0 = std::max(0, scene.grid.column(chosen.gap->span.begin)),
              x1 = std::min(scene.grid.width(), scene.grid.column(chosen.gap->span.end));
    const Box box = rows_box(scene, band, x0, std::max(x0 + 1, x1));
    whole = whole ? Box{whole->x0, std::min(whole->y0, box.y0), whole->x1, std::max(whole->y1, box.y1)} : box;
  }
  if (!whole) return;
  const Ns begin = chosen.gap->span.begin, end = chosen.gap->span.end;
  std::size_t drawn = 0;
  for (const GapSlice& slice : chosen_slices(scene.document, scene.view)) {
    if (++drawn > kMostSlices) break;
    const std::optional<LaneLayout::Place> place = scene.layout.place_of(scene.document.trace, slice.slice);
    if (!place) continue;
    outline_slice(scene, slice.slice, colour(scene.theme.selection, 0.8f), p.hairline());
    const Ns middle = slice.in_gap.begin + slice.in_gap.length() / 2;
    const float x = scene.window_x(scene.grid.column(std::clamp(middle, begin, end)));
    if (x < scene.areas.lanes.x0 || x > scene.areas.lanes.x1) continue;
    const float y = scene.window_y(place->strip.y + place->strip.height / 2);
    if (y < whole->y1 && y > whole->y0) continue;
    draw_arrow(scene, {x, y}, {x, y > whole->y1 ? whole->y1 : whole->y0},
               look_of(slice.cause, scene.window.settings.theme == ThemeName::light).rgb, 0.95f);
  }
  for (const SliceId slice : {chosen.gap->launch, chosen.gap->ended_by})
    if (slice) outline_slice(scene, slice, colour(scene.theme.flow), p.px(2));
  p.frame(*whole, colour(scene.theme.selection), p.px(2));
}

}  // namespace gapscope
