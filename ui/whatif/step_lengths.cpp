#include "ui/whatif/step_lengths.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/analyze/steps.h"
#include "core/base/text.h"
#include "core/view/document.h"
#include "core/view/timeline/time_view.h"
#include "core/view/whatif/whatif_model.h"
#include "ui/timeline/painter.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

constexpr float kBarsHeight = 64, kLeastPair = 5, kMostPair = 56;  // px at scale 1
constexpr double kNoChange = 0.0005;                               // of a length: less is none

// Bars of one step: muted as it was, and bright as it would be.
void draw_step(const Theme& theme, Painter& p, const Box& box, const StepLength& step, Ns most, bool changed) {
  const auto height = [&](Ns time) {
    const double share = static_cast<double>(time) / static_cast<double>(std::max<Ns>(most, 1));
    return std::max(p.px(1), std::round(box.height() * static_cast<float>(share)));
  };
  const float middle = changed ? std::floor((box.x0 + box.x1) / 2) : box.x1;
  p.fill({box.x0, box.y1 - height(step.before), middle, box.y1}, colour(theme.muted, 0.6f));
  if (!changed) return;
  const bool longer = step.after > step.before;
  p.fill({middle, box.y1 - height(step.after), box.x1, box.y1}, colour(longer ? theme.costly : theme.good));
}

}  // namespace

std::vector<StepLength> step_lengths(const ReplayBase& base, const ReplayedRun& run) {
  const std::vector<ReplayedStep>& now = base.now.steps;
  std::vector<StepLength> out;
  for (std::size_t i = 0; i < std::min(now.size(), run.steps.size()); ++i) {
    const Span before = base.plain ? now[i].after : now[i].before;
    out.push_back({now[i].slice, now[i].before, before.length(), run.steps[i].after.length()});
  }
  return out;
}

void draw_step_lengths(const Document& document, TraceView& view, const WindowState& window,
                       const std::vector<StepLength>& steps, bool changed) {
  if (steps.empty()) return;
  const Theme& theme = theme_of(window);
  Painter p(*ImGui::GetWindowDrawList(), window.frame.scale);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = std::max(1.0f, ImGui::GetContentRegionAvail().x), height = std::round(p.px(kBarsHeight));
  const auto fit = static_cast<std::size_t>(std::max(1.0f, width / p.px(kLeastPair)));
  const std::size_t shown = std::min(steps.size(), fit);
  const float pair = std::clamp(std::floor(width / static_cast<float>(shown)), p.px(kLeastPair), p.px(kMostPair));
  const bool clicked = ImGui::InvisibleButton("steps", {width, height});
  const float over = ImGui::IsItemHovered() ? ImGui::GetIO().MousePos.x - at.x : -1;
  Ns most = 1;
  for (std::size_t i = 0; i < shown; ++i) most = std::max({most, steps[i].before, steps[i].after});
  const float gap = pair > p.px(12) ? p.px(4) : 1;
  for (std::size_t i = 0; i < shown; ++i) {
    const float x = at.x + static_cast<float>(i) * pair;
    draw_step(theme, p, {x, at.y, x + pair - gap, at.y + height}, steps[i], most, changed);
    if (over < x - at.x || over >= x - at.x + pair) continue;
    draw_hover(printable(step_name(document.trace, steps[i].slice, i)) + "\n" +
               (changed ? length_words(steps[i].before, steps[i].after, "") : format_duration(steps[i].before)) +
               "\nFrom the end of the previous step to the end of this one, with the work that it launched.");
    if (clicked) go_to(view, window, focused_on(steps[i].recorded, axis_reach(view, document.trace.span)));
  }
  p.line_x(at.y + height, at.x, at.x + width, colour(theme.line));
  if (shown < steps.size()) draw_text(Face::sans, theme.muted, fmt::format("the first {} of {} steps", shown, steps.size()));
}

std::string length_words(Ns before, Ns after, std::string_view unit) {
  const Ns by = std::max(before, after) - std::min(before, after);
  const double share = before > 0 ? static_cast<double>(by) / static_cast<double>(before) : 0;
  if (share < kNoChange) return fmt::format("{}{}, as before", format_duration(before), unit);
  return fmt::format("{} to {}{}: {} {}", format_duration(before), format_duration(after), unit, format_percent(share),
                     after < before ? "less" : "more");
}

}  // namespace gapscope
