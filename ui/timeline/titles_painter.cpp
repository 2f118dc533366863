// The column of process and lane titles, with their chevrons.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/base/text.h"
#include "core/view/distinct_names.h"
#include "core/view/document.h"
#include "core/view/timeline/gap_view.h"
#include "ui/timeline/timeline_scene.h"

namespace gapscope {
namespace {

constexpr float kIndent = 10;
constexpr float kChevronRoom = 16;
constexpr float kRowHeight = 22;
constexpr float kLineHeight = 18;  // of the figures below a title, as many as there is room for
constexpr float kPinRoom = 22;
constexpr float kTitleTop = 2;
constexpr float kLeastOfTitle = 4;  // px in sight
constexpr float kTitleEnd = 6;      // free at the right

std::string slices_text(std::size_t count) {
  return format_count(static_cast<std::int64_t>(count)) + (count == 1 ? " slice" : " slices");
}

// What the lane holds, a line each as long as there is room.
std::vector<std::string> lane_figures(const Trace& trace, const Band& band) {
  const Lane& lane = trace.lane(band.lane);
  if (band.streams)
    return {format_count(static_cast<std::int64_t>(band.streams->lanes.size())) + " graph streams",
            slices_text(band.arranged->slice_count())};
  std::vector<std::string> lines;
  if (band.pinned) lines.push_back(trace.processes[lane.process.index()].title);
  if (lane.slice_count == 0)
    lines.push_back(format_count(lane.instant_count) + " instants");
  else
    lines.push_back(slices_text(lane.slice_count));
  return lines;
}

// A drawing pin: its head, and the needle below.
void draw_pin(Painter& p, const Box& box, ImU32 ink) {
  const float x = std::floor((box.x0 + box.x1) / 2), y = std::floor((box.y0 + box.y1) / 2);
  p.fill_rounded({x - p.px(3), y - p.px(5), x + p.px(3), y - p.px(1)}, ink, p.px(1));
  p.fill({x - p.px(5), y - p.px(1), x + p.px(5), y}, ink);
  p.line_y(x, y, y + p.px(5), ink);
}

// Alongside another trace the threads and counters of both stand below each other.
std::string of_trace(const TimelineScene& scene) {
  const auto& linked = scene.view.linked;
  return !linked ? "" : linked->is_a ? "A:  " : "B:  ";
}

// Of the marked range or the selected step, whose account continues to the next one; of the whole window otherwise. Under a
// verdict on the program without its profiler it says that this is of the recording.
std::string whose_parts(AccountStretch::Of of, Ns time, bool is_of_plain) {
  return std::string(is_of_plain ? "as recorded, " : "") + (of == AccountStretch::Of::range ? "of the marked " : "of ") +
         format_duration(time) + (of == AccountStretch::Of::step ? " step to step" : "");
}

// The time account of a device in a line: as many of its largest parts as fit whole.
void draw_largest_parts(TimelineScene& scene, const DeviceAccount& device, const Box& box) {
  Painter& p = scene.painter;
  const AccountStretch stretch = account_stretch(scene.document, scene.view);
  const bool whole = stretch.of == AccountStretch::Of::window;
  const bool summed = &device == account_of(scene.document)->busiest();  // for the panels, too
  const AccountTimes times = whole    ? device.times
                             : summed ? account_sums(scene.document, device, scene.view).times
                                      : account_of(scene.document)->times_in(device, stretch.span);
  const Headline* headline = scene.document.headline();
  std::string words = whose_parts(stretch.of, times.window, headline && headline->plain) + ":  " +
                      largest_words(times, program_kind(scene.document.trace));
  for (std::size_t cut = 0; p.text_width(Face::sans, words) > box.width() && (cut = words.rfind(", ")) != std::string::npos;)
    words.resize(cut);
  p.text_in(Face::sans, box, colour(scene.theme.muted), words);
}

void draw_process_title(TimelineScene& scene, const Band& band, const Box& box) {
  Painter& p = scene.painter;
  p.fill({box.x0, box.y0, scene.areas.lanes.x1, box.y1 - p.hairline()}, colour(scene.theme.raised));
  p.chevron({box.x0 + p.px(kIndent), (box.y0 + box.y1) / 2}, band.collapsed, colour(scene.theme.muted));
  const std::string title = of_trace(scene) + scene.document.trace.processes[band.process.index()].title;
  p.text_in(Face::bold, {box.x0 + p.px(kIndent + kChevronRoom / 2 + 2), box.y0, scene.areas.lanes.x1, box.y1},
            colour(scene.theme.text), title);
  const Process& process = scene.document.trace.processes[band.process.index()];
  const TimeAccount* account = account_of(scene.document);
  const DeviceAccount* device = account && process.is_gpu ? account->device(process.device) : nullptr;
  const float after = box.x0 + p.px(kIndent + kChevronRoom / 2 + 2) + p.text_width(Face::bold, title) + p.px(24);
  // A device in several processes of the file has one account: at the first of them.
  const std::vector<Band>& bands = scene.layout.bands();
  const auto first = std::find_if(bands.begin(), bands.end(), [&](const Band& other) {
    const Process& of = scene.document.trace.processes[other.process.index()];
    return other.kind == BandKind::process && of.is_gpu && of.device == process.device;
  });
  if (device && device->times.window > 0 && first != bands.end() && first->process == band.process)
    draw_largest_parts(scene, *device, {after, box.y0, scene.areas.lanes.x1 - p.px(8), box.y1});
  scene.zones.add({ZoneKind::process_title, box.x0, box.y0, scene.areas.lanes.x1, box.y1, {}, {}, band.process, 0, 0, {}});
}

// Without what its place says anyway: "thread" of a thread, "GPU 0" of a stream below it.
std::string short_title(const Trace& trace, const Lane& lane) {
  const Process& process = trace.processes[lane.process.index()];
  for (const std::string& known : {std::string("thread "), "GPU " + std::to_string(process.device) + " "})
    if (lane.title.starts_with(known) && lane.title.size() > known.size()) return lane.title.substr(known.size());
  return lane.title;
}

// The titles of the bands in sight, as wide as their column: what is known anyway goes first, then what several begin with.
std::vector<std::string> titles_in_sight(const TimelineScene& scene) {
  const float room = scene.areas.titles.width() - scene.painter.px(kIndent + kChevronRoom + 4 + kTitleEnd);
  std::vector<std::string> titles;
  float widest = room;
  std::size_t chars = 1;
  for (std::size_t i = scene.first_band; i < scene.last_band; ++i) {
    const Band& band = scene.layout.bands()[i];
    const Trace& trace = scene.document.trace;
    titles.push_back(band.kind == BandKind::lane ? trace.lane(band.lane).title : std::string());
    if (scene.painter.text_width(Face::sans, titles.back()) > room) titles.back() = short_title(trace, trace.lane(band.lane));
    const float width = scene.painter.text_width(Face::sans, titles.back());
    if (width > widest) widest = width, chars = utf8_length(titles.back());
  }
  if (widest <= room) return titles;
  const auto fits = [&](const std::string& title) { return scene.painter.text_width(Face::sans, title) <= room; };
  // As many letters as the widest one suggests; letters differ in width.
  std::vector<std::string> cut;
  for (auto most = static_cast<std::size_t>(static_cast<float>(chars) * room / widest); most > 1; --most) {
    cut = distinct_names(titles, most);
    if (std::all_of(cut.begin(), cut.end(), fits)) break;
  }
  for (std::size_t i = 0; i < titles.size() && i < cut.size(); ++i)
    if (!fits(titles[i])) titles[i] = cut[i];
  return titles;
}

// A link that shows the thread's Python frames, or folds them; nothing where it has none, or no room.
void draw_python_link(TimelineScene& scene, const Band& band, const Box& room) {
  const Arrangements* all = scene.document.arrangements();
  const bool has_python = all && !band.stream && !band.streams && !band.collapsed && all->without_python[band.lane.index()];
  if (!has_python || room.height() < scene.painter.px(kLineHeight)) return;
  Painter& p = scene.painter;
  const std::string_view words = band.arranged ? "Show Python" : "Fold Python";
  const Box box{room.x0, room.y0, std::min(room.x1, room.x0 + p.text_width(Face::sans, words) + 1), room.y1};
  p.text_in(Face::sans, box, colour(scene.theme.accent), words);
  scene.zones.add({ZoneKind::python, box.x0, box.y0, box.x1, box.y1, {}, band.lane, band.process, 0, 0, {}});
  if (!scene.pointer_inside || !box.holds(scene.pointer)) return;
  p.line_x(box.y1 - p.px(2), box.x0, box.x1, colour(scene.theme.accent));
  ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
}

void draw_lane_title(TimelineScene& scene, const Band& band, const Box& box, std::string_view words, bool hovered) {
  Painter& p = scene.painter;
  if (hovered) p.fill({box.x0, box.y0, box.x1, box.y1 - p.hairline()}, colour(scene.theme.raised, 0.6f));
  // The title of a tall lane stays in sight while its slices scroll by.
  const float first_line = std::min(p.px(kRowHeight), box.height() - 2 * p.px(kTitleTop));
  const float top = p.px(kTitleTop);
  const float y = std::max(box.y0 + top, std::min(scene.areas.titles.y0 + top, box.y1 - first_line - top));
  const float x = box.x0 + p.px(kIndent + kChevronRoom);
  if (band.depths > 0) {
    p.chevron({box.x0 + p.px(kIndent + kChevronRoom / 2), y + first_line / 2}, band.collapsed, colour(scene.theme.muted));
  }
  const float room = box.x1 - p.px(kTitleEnd);
  p.text_in(Face::sans, {x + p.px(4), y, room, y + first_line}, colour(scene.theme.text), words);
  float y2 = y + first_line - p.px(3);
  for (const std::string& line : lane_figures(scene.document.trace, band)) {
    if (y2 + p.px(kLineHeight) > box.y1 || scene.areas.titles.y1 - y2 < p.px(kLeastOfTitle)) break;
    p.text_in(Face::sans, {x + p.px(4), y2, room, y2 + p.px(kLineHeight)}, colour(scene.theme.muted), line);
    y2 += p.px(kLineHeight - 2);
  }
  const Box title{box.x0, box.y0, box.x1, box.y1};
  scene.zones.add({ZoneKind::lane_title, title.x0, title.y0, title.x1, title.y1, {}, band.lane, band.process, 0, 0, {}});
  draw_python_link(scene, band, {x + p.px(4), y2, room, std::min(y2 + p.px(kLineHeight), box.y1)});
  if (!hovered && !band.pinned) return;
  const Box pin{box.x1 - p.px(kPinRoom), y, box.x1 - p.px(4), y + first_line};
  const bool over = scene.pointer_inside && pin.holds(scene.pointer);
  p.fill({pin.x0, pin.y0, box.x1 - p.hairline(), pin.y1}, colour(hovered ? scene.theme.raised : scene.theme.surface));
  draw_pin(p, pin, colour(over ? scene.theme.text : band.pinned ? scene.theme.accent : scene.theme.muted));
  scene.zones.add({ZoneKind::pin, pin.x0, pin.y0, pin.x1, pin.y1, {}, band.lane, band.process, 0, 0, {}});
}

// "0 to 100 %", "0 B to 1.20 GB"
std::string scale_text(const CounterLane& lane) {
  if (lane.unit == CounterUnit::percent) return "0 to 100 %";
  return counter_text(lane.unit, lane.low) + " to " + counter_text(lane.unit, lane.high);
}

// "B:  GPU 1 · ": the counters of several GPUs, and of two traces, stand below all of them, so each says whose it is.
std::string of_gpu(const TimelineScene& scene, const Band& band) {
  const Process& process = scene.document.trace.processes[band.process.index()];
  const auto& all = scene.document.trace.processes;
  const auto gpus = std::count_if(all.begin(), all.end(), [](const Process& p) { return p.is_gpu; });
  if (!process.is_gpu) return "";
  return of_trace(scene) + (gpus > 1 ? "GPU " + std::to_string(process.device) + " \xC2\xB7 " : "");
}

// "12 more streams", "GPU 1 · 6 counters"
std::string more_words(const TimelineScene& scene, const Band& band) {
  const bool streams = band.kind == BandKind::more_streams;
  const std::string count = format_count(static_cast<std::int64_t>(band.more));
  const std::string words =
      count + (band.all_behind ? " " : " more ") + (streams ? "stream" : "counter") + (band.more == 1 ? "" : "s");
  return streams ? words : of_gpu(scene, band) + words;
}

// A click shows them, another one hides them again.
void draw_more_title(TimelineScene& scene, const Band& band, const Box& box, bool hovered) {
  Painter& p = scene.painter;
  if (hovered) p.fill({box.x0, box.y0, scene.areas.lanes.x1, box.y1 - p.hairline()}, colour(scene.theme.raised, 0.6f));
  p.chevron({box.x0 + p.px(kIndent + kChevronRoom / 2), (box.y0 + box.y1) / 2}, band.collapsed, colour(scene.theme.muted));
  const std::string words = more_words(scene, band);
  p.text_in(Face::sans, {box.x0 + p.px(kIndent + kChevronRoom + 4), box.y0, scene.areas.lanes.x1, box.y1},
            colour(scene.theme.accent), band.collapsed ? words : "hide " + words);
  const ZoneKind kind = band.kind == BandKind::more_streams ? ZoneKind::more_streams : ZoneKind::more_counters;
  scene.zones.add({kind, box.x0, box.y0, scene.areas.lanes.x1, box.y1, {}, {}, band.process, 0, 0, {}});
}

void draw_counter_title(TimelineScene& scene, const Band& band, const Box& box, bool hovered) {
  Painter& p = scene.painter;
  const CounterLane& lane = (*scene.document.counters())[band.counter];
  if (hovered) p.fill({box.x0, box.y0, box.x1, box.y1 - p.hairline()}, colour(scene.theme.raised, 0.6f));
  const float first_line = std::min(p.px(kRowHeight), box.height());
  const float y = std::min(box.y0 + p.px(kTitleTop), box.y1 - first_line);
  p.chevron({box.x0 + p.px(kIndent + kChevronRoom / 2), y + first_line / 2}, band.collapsed, colour(scene.theme.muted));
  const float x = box.x0 + p.px(kIndent + kChevronRoom + 4);
  const float room = box.x1 - p.px(6);
  // Nothing of what has all but scrolled away: its neighbour's title is there.
  if (std::min(box.y1 - scene.areas.titles.y0, scene.areas.titles.y1 - box.y0) >= p.px(kLeastOfTitle))
    p.text_in(Face::sans, {x, y, room, y + first_line}, colour(band.collapsed ? scene.theme.muted : scene.theme.text),
              of_gpu(scene, band) + lane.title);
  if (!band.collapsed) {
    const float y2 = y + first_line - p.px(3);
    p.text_in(Face::sans, {x, y2, room, y2 + p.px(18)}, colour(scene.theme.muted), scale_text(lane));
  }
  scene.zones.add({ZoneKind::counter_title,
                   box.x0,
                   box.y0,
                   box.x1,
                   box.y1,
                   {},
                   {},
                   band.process,
                   static_cast<std::uint32_t>(band.counter),
                   0,
                   {}});
}

}  // namespace

void draw_titles(TimelineScene& scene) {
  Painter& p = scene.painter;
  const Box& titles = scene.areas.titles;
  p.clip({titles.x0, titles.y0, scene.areas.lanes.x1, titles.y1});
  p.fill(titles, colour(scene.theme.surface));
  p.line_y(titles.x1 - p.hairline(), titles.y0, titles.y1, colour(scene.theme.line));  // long process titles run over it
  const std::vector<std::string> titles_of_lanes = titles_in_sight(scene);
  for (std::size_t i = scene.first_band; i < scene.last_band; ++i) {
    const Band& band = scene.layout.bands()[i];
    const float y = scene.window_y(band.y);
    const Box box{titles.x0, y, titles.x1, y + band.height};
    if (band.kind == BandKind::process) {
      draw_process_title(scene, band, box);
      continue;
    }
    if (band.kind == BandKind::counter) {
      p.clip(
          {box.x0, box.y0 - p.px(1), box.x1 - p.hairline(), box.y1 + p.px(1)});  // a sparkline is hardly as high as its letters
      draw_counter_title(scene, band, box, scene.pointer_inside && box.holds(scene.pointer));
      p.unclip();
      p.line_x(box.y1 - p.hairline(), titles.x0, titles.x1, colour(scene.theme.line, 0.6f));
      continue;
    }
    if (band.kind == BandKind::more_streams || band.kind == BandKind::more_counters) {
      draw_more_title(scene, band, box, scene.pointer_inside && box.holds(scene.pointer));
      p.line_x(box.y1 - p.hairline(), titles.x0, titles.x1, colour(scene.theme.line, 0.6f));
      continue;
    }
    p.clip({box.x0, box.y0, box.x1 - p.hairline(), box.y1});
    draw_lane_title(scene, band, box, titles_of_lanes[i - scene.first_band], scene.pointer_inside && box.holds(scene.pointer));
    p.unclip();
    p.line_x(box.y1 - p.hairline(), titles.x0, titles.x1, colour(scene.theme.line, 0.6f));
  }
  p.unclip();
}

}  // namespace gapscope
