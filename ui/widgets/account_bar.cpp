#include "ui/widgets/account_bar.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "core/base/phrase.h"
#include "core/base/text.h"
#include "core/replay/plain_program.h"
#include "core/view/document.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

constexpr float kBarHeight = 14, kRecordedHeight = 6;
constexpr float kSwatch = 10;
constexpr double kLeastShare = 0.005;  // of the window, that the words below the bar state

bool is_light(const WindowState& window) { return window.settings.theme == ThemeName::light; }

Rgb work_ink(const AccountPart& part, const WindowState& window) {
  const Hue hue = part.kind == AccountPart::Kind::compute         ? Hue::gemm
                  : part.kind == AccountPart::Kind::communication ? Hue::collective
                                                                  : Hue::copy;
  return paint_of(window.settings.slice_colours, hue, 0).fill;
}

std::string tooltip(const AccountPart& part, const BarOf& of, TraceView& view) {
  const bool idle = part.kind == AccountPart::Kind::idle;
  std::string text = std::string(part_words(part, program_kind(of.document.trace))) + ": " + format_duration(part.time) + ", " +
                     format_part(part.time, of.times.window) + " of " + format_duration(of.times.window);
  const std::string& advice = part_advice(of.document, of.device, of.stretch, part, view);
  if (!advice.empty()) text += (idle ? "\nThe GPU is idle. " : "\n") + advice;
  return idle ? text + "\nClick for the longest gap of this cause, click again for the next shorter one." : text;
}

// What it is the account of. `time`: of it, without what is between the recordings of one file.
std::string stretch_words(AccountStretch::Of of, Ns time) {
  const std::string length = format_duration(time);
  switch (of) {
    case AccountStretch::Of::window: return length;
    case AccountStretch::Of::range: return length + " of the marked time";
    case AccountStretch::Of::step: return length + ", step to step,";
  }
  return length;
}

// At most so many of the largest, in the order of the bar.
std::vector<AccountPart> largest_parts(const AccountTimes& times, std::size_t most) {
  std::vector<AccountPart> parts = parts_of(times);
  std::erase_if(parts, [&](const AccountPart& part) {
    return static_cast<double>(part.time) < kLeastShare * static_cast<double>(times.window);
  });
  const auto is_less = [](const AccountPart& x, const AccountPart& y) { return x.time < y.time; };
  while (parts.size() > most) parts.erase(std::min_element(parts.begin(), parts.end(), is_less));
  return parts;
}

void draw_legend_line(const AccountPart& part, ProgramKind program, const AccountTimes& times, const WindowState& window) {
  Painter p(*ImGui::GetWindowDrawList(), window.frame.scale);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float size = p.px(kSwatch), top = std::floor((ImGui::GetTextLineHeight() - size) / 2);
  fill_part(p, {at.x, at.y + top, at.x + size, at.y + top + size}, part, window);
  ImGui::SetCursorScreenPos({at.x + size + p.px(6), at.y});
  const Theme& theme = theme_of(window);
  draw_text(Face::sans, theme.text, part_words(part, program));
  ImGui::SameLine(0, p.px(6));
  draw_text_right(Face::mono, theme.muted, format_part(part.time, times.window) + " " + format_duration(part.time));
}

}  // namespace

void fill_cause(Painter& painter, const Box& box, IdleCause cause, const WindowState& window, float alpha) {
  const IdleLook look = look_of(cause, is_light(window));
  painter.fill(box, colour(look.rgb, 0.30f * alpha));
  painter.hatch(box, colour(look.rgb, 0.85f * alpha), look.hatch);
}

void fill_part(Painter& painter, const Box& box, const AccountPart& part, const WindowState& window, float alpha) {
  if (part.kind == AccountPart::Kind::idle) return fill_cause(painter, box, part.cause, window, alpha);
  painter.fill(box, colour(work_ink(part, window), alpha));
}

std::optional<AccountPart> draw_account_bar(const Box& box, const BarOf& of, TraceView& view, const WindowState& window) {
  const AccountTimes& times = of.times;
  if (times.window <= 0 || box.width() < 1) return std::nullopt;
  Painter p(*ImGui::GetWindowDrawList(), window.frame.scale);
  const Theme& theme = theme_of(window);
  p.fill(box, colour(theme.background));
  std::optional<AccountPart> clicked;
  Ns before = 0;
  int id = 0;
  const auto x_of = [&](Ns t) {
    return std::round(box.x0 + box.width() * static_cast<float>(static_cast<double>(t) / static_cast<double>(times.window)));
  };
  for (const AccountPart& part : parts_of(times)) {
    const Box piece{x_of(before), box.y0, x_of(before + part.time), box.y1};
    before += part.time;
    ++id;
    if (piece.width() < 1) continue;
    fill_part(p, piece, part, window);
    p.line_y(piece.x1 - p.hairline(), piece.y0, piece.y1, colour(theme.background, 0.8f));
    ImGui::SetCursorScreenPos({piece.x0, piece.y0});
    ImGui::PushID(id);
    if (ImGui::InvisibleButton("part", {piece.width(), piece.height()})) clicked = part;
    ImGui::PopID();
    if (!ImGui::IsItemHovered()) continue;
    p.frame(piece, colour(theme.selection), p.hairline());
    draw_hover(tooltip(part, of, view));
  }
  return clicked;
}

void go_to_part(const Document& document, TraceView& view, const WindowState& window, const DeviceAccount& device,
                const AccountPart& part) {
  if (part.kind != AccountPart::Kind::idle) return;
  const AccountStretch stretch = account_stretch(document, view);
  const GapPlace now = chosen_gap(document, view);
  std::optional<std::size_t> after;
  if (now.gap && now.device == &device) after = static_cast<std::size_t>(now.gap - device.gaps.data());
  if (const std::optional<std::size_t> gap = next_gap(device, part.cause, stretch.span, after))
    choose_gap(document, view, window, device.device, *gap, /*go_there=*/true);
}

void draw_account(const Document& document, TraceView& view, const WindowState& window, std::size_t most_words,
                  AccountDrawing drawing) {
  const TimeAccount* account = account_of(document);
  const DeviceAccount* device = account ? account->busiest() : nullptr;
  if (!device) return;
  const AccountStretch stretch = account_stretch(document, view);
  const AccountTimes times = account_sums(document, *device, view).times;
  if (times.window <= 0) return;
  const Theme& theme = theme_of(window);
  std::optional<AccountPart> clicked;
  const auto draw = [&](const std::string& title, const AccountTimes& of, float bar_height) {
    draw_text(Face::sans, theme.muted, title);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x, height = std::round(bar_height * window.frame.scale);
    ImGui::PushID(title.c_str());
    const auto part =
        draw_account_bar({at.x, at.y, at.x + width, at.y + height}, {document, *device, stretch.span, of}, view, window);
    ImGui::PopID();
    if (part) clicked = part;
    ImGui::SetCursorScreenPos(at);
    ImGui::Dummy({width, height});
  };
  const std::string recorded = stretch_words(stretch.of, times.window), of_device = fmt::format("GPU {}", device->device);
  const bool one = account->devices().size() < 2;
  const Headline* headline = document.headline();
  const AccountTimes* plain =
      stretch.of == AccountStretch::Of::window && headline && headline->plain_times ? &*headline->plain_times : nullptr;
  if (plain)
    draw(fmt::format("Without the profiler, of {}{}", format_duration(plain->window),
                     headline->plain->steps > 0 ? " a step" : ""),
         *plain, kBarHeight);
  else
    draw("Of " + recorded + " " + (one ? "the GPU" : of_device) + " spent", times, kBarHeight);
  for (const AccountPart& part : largest_parts(plain ? *plain : times, most_words))
    draw_legend_line(part, program_kind(document.trace), plain ? *plain : times, window);
  if (plain && drawing == AccountDrawing::all)
    draw("As recorded, of " + (one ? "" : of_device + ", ") + recorded, times, kRecordedHeight);
  if (clicked) go_to_part(document, view, window, *device, *clicked);
}

}  // namespace gapscope
