// The tab "Ranks": one GPU band a rank on the axis of the lanes above. Over core/view/ranks/rank_bands.h.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/base/time_text.h"
#include "core/view/document.h"
#include "core/view/ranks/rank_bands.h"
#include "core/view/timeline/slice_colour.h"
#include "ui/ranks/ranks_panel.h"
#include "ui/timeline/painter.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

constexpr float kLeastBand = 4, kMostBand = 72, kTitle = 120;  // px at scale 1
constexpr float kLeastGap = 12;                        // of a band's height, from which on a pixel of it keeps bands apart
constexpr int kJoinSpacing = 14, kLeastHatched = 5;    // px
constexpr float kLeastWords = 26;                      // px, for the shortest of words
constexpr float kComputeShare = 0.5f;                  // of a band's height
constexpr double kWheelZoom = 0.2, kWheelPan = 0.075;  // a notch, as in the lanes

struct BandColours {
  Rgb compute, copies, transfer, waiting;
};

BandColours colours_of(const WindowState& window, const Theme& theme) {
  const auto fill = [&](Hue hue) { return paint_of(window.settings.slice_colours, hue, 0).fill; };
  return {fill(Hue::gemm), fill(Hue::copy), fill(Hue::collective), theme.costly};
}

class BandsPainter {
 public:
  BandsPainter(RanksPanel& panel, const BandScene& scene, Painter& p, const Box& titles, const Box& axis, float height)
      : panel_(panel),
        scene_(scene),
        p_(p),
        titles_(titles),
        axis_(axis),
        height_(height),
        ink_(colours_of(panel.window, panel.theme)),
        order_(order_of_ranks(panel.answer.report, panel.state.by_lateness)) {}

  void draw(const Box& sight) {
    first_ = static_cast<std::size_t>(std::max(0.0f, std::floor((sight.y0 - axis_.y0) / height_)));
    last_ = std::min(order_.size(), static_cast<std::size_t>(std::max(0.0f, std::ceil((sight.y1 - axis_.y0) / height_))));
    for (std::size_t i = first_; i < last_; ++i) draw_title(i);
    p_.clip({axis_.x0, sight.y0, axis_.x1, sight.y1});
    for (std::size_t i = first_; i < last_; ++i) draw_band(i);
    for (const std::uint32_t matched : joined_collectives(scene_, static_cast<int>(p_.px(kJoinSpacing))))
      draw_join(matched, false);
    for (std::size_t i = first_; i < last_; ++i) draw_words(i);
    p_.unclip();
  }

  void point_at(ImVec2 mouse, const Box& sight) {
    const auto place = static_cast<std::size_t>(std::max(0.0f, (mouse.y - axis_.y0) / height_));
    if (place >= order_.size()) return;
    const std::uint32_t rank = order_[place];
    const Box band = band_of(place);
    const Ns t = scene_.grid.begin_of(static_cast<int>(mouse.x - axis_.x0));
    const std::optional<BandPlace> at =
        axis_.x0 <= mouse.x ? band_place(scene_, rank, t, mouse.y >= band.y0 + compute_height()) : std::nullopt;
    p_.clip({axis_.x0, sight.y0, axis_.x1, sight.y1});
    if (at && at->matched != kUnmatched) draw_join(at->matched, true);
    if (at)
      p_.frame({x_of(at->shown.begin), band.y0, x_of(at->shown.end) + 1, band.y1}, colour(panel_.theme.selection),
               p_.hairline());
    p_.unclip();
    std::string text = fmt::format("rank {}", scene_.report.run.ranks[rank].rank);
    if (at) text += ", " + at->text;
    if (!is_open(panel_, rank)) text += "\nClick: open this rank here.";
    draw_tooltip({mouse.x, band.y0}, {mouse.x + 1, band.y1}, text);
    if (at && is_open(panel_, rank) && ImGui::IsMouseDoubleClicked(0))
      go_to(panel_.view, panel_.window, focused_on(at->shown, axis_reach(panel_.view, panel_.document.trace.span)));
    if (clicked() && !is_open(panel_, rank)) open(rank);
  }

 private:
  Box band_of(std::size_t place) const {
    const float y = axis_.y0 + static_cast<float>(place) * height_;
    return {axis_.x0, y, axis_.x1, y + height_ - (height_ >= p_.px(kLeastGap) ? p_.hairline() : 0)};
  }
  float compute_height() const { return std::round(height_ * kComputeShare); }
  float x_of(Ns shown) const {
    return axis_.x0 + static_cast<float>(std::clamp(scene_.grid.column(shown), 0, scene_.grid.width()));
  }
  static bool clicked() {
    const ImGuiIO& io = ImGui::GetIO();
    return ImGui::IsMouseReleased(0) && !io.KeyShift &&
           io.MouseDragMaxDistanceSqr[0] <= io.MouseDragThreshold * io.MouseDragThreshold;
  }

  // That rank at the time that is shown now.
  void open(std::uint32_t rank) {
    const std::string& file = scene_.report.run.ranks[rank].file;
    panel_.state.go_to = {file, "", scene_.time.in_file(rank, panel_.view.time.span)};
    panel_.out.add(OpenFile{file});
  }

  bool is_late(std::uint32_t rank) const {
    const std::vector<RunFinding>& findings = scene_.report.findings;
    return std::any_of(findings.begin(), findings.end(), [&](const RunFinding& f) {
      return f.kind == RunFindingKind::straggler && f.rank == scene_.report.run.ranks[rank].rank;
    });
  }

  // So near to a late rank that its title would lie under that one's.
  bool is_beside_late(std::size_t place) const {
    const auto near = static_cast<std::size_t>(std::ceil(ImGui::GetFontSize() / height_));
    for (std::size_t at = place > near ? place - near : 0; at < std::min(order_.size(), place + near); ++at)
      if (is_late(order_[at])) return true;
    return false;
  }

  void draw_title(std::size_t place) {
    const std::uint32_t rank = order_[place];
    const Box band = band_of(place);
    const bool late = is_late(rank);
    const Rgb ink = late ? panel_.theme.costly : is_open(panel_, rank) ? panel_.theme.text : panel_.theme.muted;
    if (late) p_.fill({axis_.x0 - p_.px(4), band.y0, axis_.x0 - p_.px(1), band.y1}, colour(ink));
    const float line = ImGui::GetFontSize();
    if (height_ < line && !late && (place % static_cast<std::size_t>(std::ceil(line / height_)) != 0 || is_beside_late(place)))
      return;
    const float x1 = axis_.x0 - p_.px(8);
    const std::string name = fmt::format("rank {}", scene_.report.run.ranks[rank].rank);
    const Box box{titles_.x0, band.y0, x1, band.y0 + std::max(line, std::min(height_, 1.5f * line))};
    std::string figure = late ? fmt::format("late: others idle {}", format_duration(scene_.report.waited_for(rank)))
                              : fmt::format("waits {}", format_duration(scene_.report.waits.ranks[rank].waiting_total()));
    if (height_ < line && !late) return p_.text_in(Face::sans, box, colour(ink), name);
    const float left = box.x0 + p_.text_width(Face::sans, name) + p_.px(10);
    if (late && x1 - p_.text_width(Face::sans, figure) < left) figure = "late";
    const float width = p_.text_width(Face::sans, figure);
    if (height_ < line) p_.fill({box.x0, box.y0, x1, box.y1}, colour(panel_.theme.surface));  // over its neighbours'
    p_.text_in(Face::sans, box, colour(ink), name);
    if (x1 - width >= left)
      p_.text_in(Face::sans, {x1 - width, box.y0, x1 + 1, box.y1}, colour(late ? ink : panel_.theme.muted), figure);
  }

  // Neighbouring columns that are alike are one rectangle.
  template <class Part>
  void draw_runs(const Box& row, Part part, Rgb rgb, bool hatched) {
    for (std::size_t i = 0; i < columns_.size();) {
      const int share = part(columns_[i]);
      std::size_t end = i + 1;
      while (end < columns_.size() && part(columns_[end]) == share) ++end;
      if (share > 0) {
        const Box box{row.x0 + static_cast<float>(i), row.y0, row.x0 + static_cast<float>(end), row.y1};
        const float alpha = 0.15f + 0.85f * static_cast<float>(share) / kWholeColumn;
        p_.fill(box, colour(rgb, hatched ? 0.45f * alpha : alpha));
        if (hatched && end - i >= static_cast<std::size_t>(kLeastHatched)) p_.hatch(box, colour(rgb));
      }
      i = end;
    }
  }

  void draw_band(std::size_t place) {
    const Box band = band_of(place);
    p_.fill(band, colour(panel_.theme.background));
    paint_band(scene_, order_[place], columns_);
    const Box top{band.x0, band.y0, band.x1, band.y0 + compute_height()}, below{band.x0, top.y1, band.x1, band.y1};
    draw_runs(
        top, [](const BandColumn& c) { return c.copies; }, ink_.copies, false);
    draw_runs(
        top, [](const BandColumn& c) { return c.compute; }, ink_.compute, false);
    draw_runs(
        below, [](const BandColumn& c) { return c.transfer; }, ink_.transfer, false);
    draw_runs(
        below, [](const BandColumn& c) { return c.waiting; }, ink_.waiting, true);
  }

  void put_words(const Box& box, const BandWords& words) {
    if (box.height() < font_size(Face::sans) || box.width() < p_.px(kLeastWords)) return;
    const float room = box.width() - p_.px(6);
    const bool whole = p_.text_width(Face::sans, words.text) <= room;
    if (!whole && p_.text_width(Face::sans, words.brief) > room) return;
    const std::string& text = whole ? words.text : words.brief;
    const float width = p_.text_width(Face::sans, text), x = std::floor((box.x0 + box.x1 - width) / 2);
    p_.fill({x - p_.px(3), box.y0 + p_.hairline(), x + width + p_.px(3), box.y1 - p_.hairline()},
            colour(panel_.theme.background, 0.75f));
    p_.text_in(Face::sans, {x, box.y0, x + width + 1, box.y1}, colour(panel_.theme.text), text);
  }

  void draw_words(std::size_t place) {
    const Box band = band_of(place);
    for (const BandWords& words : band_words(scene_, order_[place], static_cast<int>(p_.px(kLeastWords)))) {
      Box box{axis_.x0 + static_cast<float>(words.x0), band.y0 + compute_height(), axis_.x0 + static_cast<float>(words.x1),
              band.y1};
      if (words.what == BandWords::What::late) {
        box = {box.x0, band.y0, box.x1, band.y0 + compute_height()};
        const float thick = height_ >= p_.px(kLeastGap) ? p_.px(3) : p_.hairline();
        p_.fill({box.x0, box.y0, box.x1, box.y0 + thick}, colour(panel_.theme.costly));
        box.y0 += thick;
      }
      put_words(box, words);
    }
  }

  // From rank to rank through the begins of a collective: the line goes right where one comes late.
  void draw_join(std::uint32_t matched, bool strong) {
    const Matches& matches = scene_.report.matches;
    std::vector<std::pair<std::size_t, ImVec2>> points;
    for (const Member& m : matches.of(matches.all[matched])) {
      const auto place = static_cast<std::size_t>(std::find(order_.begin(), order_.end(), m.rank) - order_.begin());
      const Box band = band_of(place);
      const RankCollective& c = scene_.report.run.ranks[m.rank].collectives[m.at];
      const int column = scene_.grid.column(scene_.time.of(m.rank, c.span.begin));
      points.push_back({place, {axis_.x0 + static_cast<float>(column), (band.y0 + compute_height() + band.y1) / 2}});
    }
    std::sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    const ImU32 ink = strong ? colour(panel_.theme.selection) : colour(panel_.theme.flow, 0.55f);
    for (std::size_t i = 1; i < points.size(); ++i)
      if (points[i].first + 1 >= first_ && points[i - 1].first <= last_)
        p_.list().AddLine(points[i - 1].second, points[i].second, ink, strong ? p_.px(2) : p_.hairline());
    if (height_ < p_.px(kLeastGap)) return;
    for (const auto& [place, at] : points) p_.list().AddCircleFilled(at, p_.px(2), ink);
  }

  RanksPanel& panel_;
  const BandScene& scene_;
  Painter& p_;
  Box titles_, axis_;
  float height_;
  BandColours ink_;
  std::vector<std::uint32_t> order_;
  std::size_t first_ = 0, last_ = 0;
  std::vector<BandColumn> columns_;
};

// Steps of the open rank above the bands, at their begins.
void draw_steps(const RanksPanel& panel, const BandScene& scene, std::uint32_t open, Painter& p, const Box& head, float y1) {
  p.clip({head.x0, head.y0, head.x1, y1});
  for (const RankStep& step : scene.report.run.ranks[open].steps) {
    const int x0 = scene.grid.column(step.span.begin), x1 = scene.grid.column(step.span.end);
    if (x1 < 0 || x0 > scene.grid.width()) continue;
    p.line_y(head.x0 + static_cast<float>(x0), head.y0, y1, colour(panel.theme.line));
    const Box box{head.x0 + static_cast<float>(std::max(0, x0)) + p.px(4), head.y0,
                  head.x0 + static_cast<float>(std::min(x1, scene.grid.width())), head.y1};
    std::string name = printable(step.name);
    if (p.text_width(Face::sans, name) > box.width() && name.starts_with("ProfilerStep#")) name = name.substr(12);
    if (p.text_width(Face::sans, name) <= box.width()) p.text_in(Face::sans, box, colour(panel.theme.muted), name);
  }
  p.unclip();
}

// The habits of the lanes: the wheel scrolls, with Ctrl it zooms, with Shift it pans; a drag pans.
void move_by_mouse(const RanksPanel& panel, const Box& axis, bool hovered, bool held) {
  const ImGuiIO& io = ImGui::GetIO();
  TraceView& view = panel.view;
  const Span reach = axis_reach(view, panel.document.trace.span);
  const double wheel = hovered ? static_cast<double>(io.MouseWheel) : 0,
               across = hovered ? static_cast<double>(io.MouseWheelH) : 0;
  const double anchor = std::clamp(static_cast<double>((io.MousePos.x - axis.x0) / axis.width()), 0.0, 1.0);
  double pan = -across * kWheelPan;
  if (io.KeyShift) pan -= wheel * kWheelPan;
  const bool drags = held && (ImGui::IsMouseDragging(0) || ImGui::IsMouseDragging(2));
  if (drags) pan -= static_cast<double>(io.MouseDelta.x / axis.width());
  if (drags) ImGui::SetScrollY(ImGui::GetScrollY() - io.MouseDelta.y);
  if (pan != 0 || (io.KeyCtrl && wheel != 0)) view.move.active = false;
  if (io.KeyCtrl && wheel != 0) view.time = zoomed(view.time, std::exp(-wheel * kWheelZoom), anchor, reach);
  if (pan != 0) view.time = panned(view.time, pan, reach);
}

// Where the lanes lie, as far as this window goes.
Box axis_in(const RanksPanel& panel, const Box& room, const Painter& p) {
  const float x0 = panel.state.lanes_x0, x1 = std::min(room.x1, panel.state.lanes_x1);
  if (x0 < room.x0 || x1 <= x0) return {std::min(room.x1 - 1, room.x0 + p.px(kTitle)), room.y0, room.x1, room.y1};
  return {x0, room.y0, x1, room.y1};
}

}  // namespace

void draw_rank_bands(RanksPanel& panel, float x1) {
  const RunReport& report = panel.answer.report;
  std::uint32_t open = 0;
  while (open < report.run.ranks.size() && !is_open(panel, open)) ++open;
  if (open == report.run.ranks.size())
    return draw_text(Face::sans, panel.theme.muted, "The open trace is not a rank of this run. Click a rank in the matrix.",
                     true);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 size{std::max(1.0f, x1 - at.x), std::max(1.0f, ImGui::GetContentRegionAvail().y)};
  const ImGuiIO& io = ImGui::GetIO();
  const float head = std::round(ImGui::GetFontSize() * 1.2f);
  Painter outer(*ImGui::GetWindowDrawList(), panel.window.frame.scale);
  const Box room{at.x, at.y, at.x + size.x, at.y + size.y};
  const Box axis = axis_in(panel, room, outer);
  const PixelGrid grid(panel.view.time, std::max(1, static_cast<int>(axis.width())), panel.document.trace.span.begin);
  const BandScene scene{report, *panel.answer.bands, ShownTime(report, open), grid};
  draw_steps(panel, scene, open, outer, {axis.x0, at.y, axis.x1, at.y + head}, room.y1);
  ImGui::SetCursorScreenPos({at.x, at.y + head});
  const ImGuiWindowFlags flags = io.KeyCtrl || io.KeyShift ? ImGuiWindowFlags_NoScrollWithMouse : 0;
  ImGui::BeginChild("bands", {size.x, std::max(1.0f, size.y - head)}, 0, flags);
  Painter p(*ImGui::GetWindowDrawList(), panel.window.frame.scale);
  const float height = band_height(report.run.ranks.size(), size.y - head, p.px(kLeastBand), p.px(kMostBand));
  const ImVec2 top = ImGui::GetCursorScreenPos();
  const float bottom = top.y + height * static_cast<float>(report.run.ranks.size());
  const Box sight{room.x0, at.y + head, axis.x1, room.y1};
  BandsPainter bands(panel, scene, p, {room.x0, top.y, axis.x0, bottom}, {axis.x0, top.y, axis.x1, bottom}, height);
  bands.draw(sight);
  ImGui::InvisibleButton("bands", {size.x, std::max(1.0f, bottom - top.y)},
                         ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonMiddle);
  const bool hovered = ImGui::IsItemHovered();
  move_by_mouse(panel, axis, hovered, ImGui::IsItemActive());
  if (hovered && io.MousePos.x < axis.x1) bands.point_at(io.MousePos, sight);
  ImGui::EndChild();
}

void draw_band_legend(const RanksPanel& panel) {
  const BandColours ink = colours_of(panel.window, panel.theme);
  Painter p(*ImGui::GetWindowDrawList(), panel.window.frame.scale);
  // Where there is no room for all, what the tab is about comes first.
  const std::pair<const char*, Rgb> words[] = {
      {"computes", ink.compute}, {"waits", ink.waiting}, {"transfers", ink.transfer}, {"copies", ink.copies}};
  for (const auto& [word, rgb] : words) {
    const float wide = p.px(10);
    if (!go_on(wide + p.px(6) + p.text_width(Face::sans, word), ImGui::GetStyle().ItemSpacing.x)) return;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float y = at.y + std::floor((ImGui::GetFrameHeight() - wide) / 2);
    const bool waits = word == std::string_view("waits");
    p.fill({at.x, y, at.x + wide, y + wide}, colour(rgb, waits ? 0.45f : 1));
    if (waits) p.hatch({at.x, y, at.x + wide, y + wide}, colour(rgb));
    ImGui::SetCursorScreenPos({at.x + wide + p.px(5), at.y});
    ImGui::AlignTextToFramePadding();
    draw_text(Face::sans, panel.theme.muted, word);
  }
}

}  // namespace gapscope
