#include "ui/overview/overview_charts.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "core/base/phrase.h"
#include "core/base/text.h"
#include "core/view/document.h"
#include "core/view/findings/findings_model.h"
#include "core/view/timeline/gap_view.h"
#include "core/view/timeline/slice_colour.h"
#include "core/view/timeline/time_view.h"
#include "core/view/whatif/whatif_model.h"
#include "ui/panels.h"
#include "ui/timeline/painter.h"
#include "ui/widgets/account_bar.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

constexpr std::size_t kAccountWords = 5;  // parts of the account written in words
constexpr float kOtherBar = 10;           // px at scale 1: bars of the other GPUs
constexpr float kStepsHeight = 64;
constexpr float kLeastStep = 4;  // px: of narrower ones the longest of several represents all
constexpr float kPlanBar = 8;
constexpr float kIdle = 0.3f, kIdleHot = 0.45f;  // alpha of a step's idle part

// The box of `height` px at the cursor, as wide as the column, which the cursor then is below.
Box take_box(float height, const WindowState& window) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, tall = std::round(height * window.frame.scale);
  ImGui::Dummy({width, tall});
  return {at.x, at.y, at.x + width, at.y + tall};
}

void draw_other_device(const Document& document, const DeviceAccount& device, TraceView& view, const WindowState& window) {
  const AccountStretch stretch = account_stretch(document, view);
  const AccountTimes times = account_of(document)->times_in(device, stretch.span);
  draw_text(Face::sans, theme_of(window).muted,
            "GPU " + std::to_string(device.device) + ": " + largest_words(times, program_kind(document.trace)), /*wrap=*/true);
  const Box box = take_box(kOtherBar, window);
  const ImVec2 below = ImGui::GetCursorScreenPos();
  ImGui::PushID(device.device);
  if (const auto clicked = draw_account_bar(box, {document, device, stretch.span, times}, view, window))
    go_to_part(document, view, window, device, *clicked);
  ImGui::PopID();
  ImGui::SetCursorScreenPos(below);
  ImGui::Dummy({0, 0});
}

// A step, and what the busiest GPU did in it; null where there is no account of it.
struct StepBar {
  const Step* step = nullptr;
  const AccountTimes* times = nullptr;
};

// Steps of the account are those that the bars are of, less some that lie in others; both stand in order of time.
std::vector<StepBar> step_bars(const Document& document, TraceView& view) {
  std::vector<StepBar> bars;
  const TimeAccount* account = account_of(document);
  const DeviceAccount* device = account ? account->busiest() : nullptr;
  const std::vector<AccountTimes>* times = device ? &account_sums(document, *device, view).steps : nullptr;
  std::size_t at = 0;
  for (const Step& step : document.analysis()->steps().steps) {
    while (times && at < times->size() && account->steps()[at].span.begin < step.cpu.begin) ++at;
    const bool same = times && at < times->size() && account->steps()[at].step == step.slice;
    bars.push_back({&step, same ? &(*times)[at] : nullptr});
  }
  return bars;
}

Ns working(const AccountTimes& times) { return times.compute + times.exposed_communication + times.exposed_copies; }

std::string step_tooltip(const StepBar& bar, std::size_t stands_for) {
  const Step& step = *bar.step;
  std::string text =
      (step.name.empty() ? "whole recording" : printable(step.name)) + ": " + format_duration(step.span.length());
  if (bar.times) text += ", GPU busy " + format_part(working(*bar.times), bar.times->window);
  if (stands_for > 1) text += "\nThe longest of " + std::to_string(stands_for) + " steps that share this bar.";
  return text + "\nThe height of a bar is the length of its step" + (bar.times ? ", in colour while the GPU works" : "") +
         ". Click to zoom to it.";
}

void draw_step_bar(Painter& p, const StepBar& bar, const Box& room, Ns longest, bool hot, const TraceView& view,
                   const WindowState& window) {
  const Theme& theme = theme_of(window);
  const auto share = static_cast<double>(bar.step->span.length()) / static_cast<double>(std::max<Ns>(longest, 1));
  const Box box{room.x0, room.y1 - room.height() * static_cast<float>(share), room.x1, room.y1};
  if (bar.times)
    p.fill(box, colour(theme.muted, hot ? kIdleHot : kIdle));  // what stays of it: the GPU is idle
  else                                                         // of the GPU nothing is known: the host's time
    p.fill(box, colour(paint_of(window.settings.slice_colours, Hue::op, 0).fill, hot ? 1 : 0.85f));
  float bottom = box.y1;
  const auto stack = [&](Ns time, Hue hue) {
    if (time <= 0) return;
    const double part = static_cast<double>(time) / static_cast<double>(std::max<Ns>(bar.times->window, 1));
    const float top = bottom - std::max(p.hairline(), box.height() * static_cast<float>(part));  // a little is not nothing
    p.fill({box.x0, top, box.x1, bottom}, colour(paint_of(window.settings.slice_colours, hue, 0).fill));
    bottom = top;
  };
  if (bar.times) {
    stack(bar.times->compute, Hue::gemm);
    stack(bar.times->exposed_communication, Hue::collective);
    stack(bar.times->exposed_copies, Hue::copy);
  }
  if (hot || (bar.step->slice && bar.step->slice == view.selection)) p.frame(box, colour(theme.selection), p.hairline());
}

// Before a line of the plan: the recording replayed with its remedy, in the tab What if.
void draw_plan_tick(TraceView& view, WindowState& window, std::int32_t finding) {
  WhatIfChanges& changes = view.what_if.changes;
  bool on = has_finding(changes, finding);
  if (draw_checkbox("##tick", &on)) {
    set_finding(changes, finding, on);
    jump_to_panel(view, window, "whatif");
  }
  draw_hover("Replay the recording with this remedy, in the tab What if.");
  ImGui::SameLine();
}

void draw_plan_bar(const Document& document, TraceView& view, WindowState& window, const PlanLine& line, Ns length,
                   const Plan::Item* item) {
  const Theme& theme = theme_of(window);
  const Plan& plan = document.diagnosis()->plan;
  ImGui::BeginGroup();
  draw_text(item ? Face::bold : Face::sans, item ? theme.text : theme.muted, line.what, /*wrap=*/true);
  const Box box = take_box(kPlanBar, window);
  Painter p(*ImGui::GetWindowDrawList(), window.frame.scale);
  const auto x_of = [&](Ns of_run) {
    const double share = static_cast<double>(plan.length(of_run)) / static_cast<double>(std::max<Ns>(plan.length(plan.run), 1));
    return box.x0 + box.width() * static_cast<float>(std::clamp(share, 0.0, 1.0));
  };
  p.fill(box, colour(theme.background));
  p.fill({box.x0, box.y0, x_of(length), box.y1}, colour(item ? theme.good : theme.muted));
  if (item) p.hatch({x_of(length), box.y0, x_of(length + item->saved), box.y1}, colour(theme.good, 0.5f));
  draw_text(Face::sans, theme.muted, line.value, /*wrap=*/true);
  ImGui::EndGroup();
  if (!item) return;
  draw_hover("Filled: the remaining time of the run. Hatched: the saved time. Click for its finding.\n" +
             std::string(kGainLegend));
  if (ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  if (ImGui::IsItemClicked()) show_finding(document, view, window, static_cast<std::uint32_t>(item->finding));
}

}  // namespace

void draw_account_bars(const Document& document, TraceView& view, const WindowState& window, bool with_busiest) {
  const TimeAccount* account = account_of(document);
  if (!account || !account->busiest()) return;
  if (with_busiest) draw_account(document, view, window, kAccountWords);
  for (const DeviceAccount& device : account->devices())
    if (&device != account->busiest()) draw_other_device(document, device, view, window);
}

void draw_step_bars(const Document& document, TraceView& view, const WindowState& window) {
  if (!document.analysis()->steps().annotated) return;
  const std::vector<StepBar> steps = step_bars(document, view);
  if (steps.empty()) return;
  const TimeAccount* account = account_of(document);
  const DeviceAccount* device = account ? account->busiest() : nullptr;
  Ns longest = 0;
  for (const StepBar& bar : steps) longest = std::max(longest, bar.step->span.length());
  const Box box = take_box(kStepsHeight, window);
  const ImVec2 below = ImGui::GetCursorScreenPos();
  Painter p(*ImGui::GetWindowDrawList(), window.frame.scale);
  const auto bars = std::clamp<std::size_t>(static_cast<std::size_t>(box.width() / p.px(kLeastStep)), 1, steps.size());
  const auto first_of = [&](std::size_t bar) { return static_cast<std::ptrdiff_t>(bar * steps.size() / bars); };
  const float wide = box.width() / static_cast<float>(bars);
  const float gap = wide >= p.px(kLeastStep) * 2 ? p.px(2) : p.hairline();
  for (std::size_t i = 0; i < bars; ++i) {
    const auto begin = steps.begin() + first_of(i), end = steps.begin() + first_of(i + 1);
    StepBar bar = *std::max_element(
        begin, end, [](const StepBar& a, const StepBar& b) { return a.step->span.length() < b.step->span.length(); });
    AccountTimes in_span;  // of steps that the account does not cut its window by: passes of serving engines
    if (!bar.times && device) {
      in_span = account->times_in(*device, bar.step->span);
      bar.times = &in_span;
    }
    const Box room{std::round(box.x0 + wide * static_cast<float>(i)), box.y0,
                   std::round(box.x0 + wide * static_cast<float>(i + 1)) - gap, box.y1};
    ImGui::SetCursorScreenPos({room.x0, room.y0});
    ImGui::PushID(static_cast<int>(i));
    const bool clicked = ImGui::InvisibleButton("step", {std::max(1.0f, room.width()), room.height()});
    ImGui::PopID();
    draw_step_bar(p, bar, room, longest, ImGui::IsItemHovered(), view, window);
    if (ImGui::IsItemHovered()) draw_hover(step_tooltip(bar, static_cast<std::size_t>(end - begin)));
    if (!clicked) continue;
    if (bar.step->slice) select_slice(view, bar.step->slice, /*reveal=*/false);
    go_to(view, window, focused_on(bar.step->span, document.trace.span));
  }
  p.line_x(box.y1, box.x0, box.x1, colour(theme_of(window).line));
  ImGui::SetCursorScreenPos(below);
}

void draw_plan_bars(const Document& document, TraceView& view, WindowState& window) {
  const Diagnosis& diagnosis = *document.diagnosis();
  const std::vector<PlanLine> lines = plan_lines(diagnosis);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    ImGui::PushID(static_cast<int>(i));
    const bool is_item = i > 0 && i - 1 < diagnosis.plan.items.size();
    const Plan::Item* item = is_item ? &diagnosis.plan.items[i - 1] : nullptr;
    if (item) draw_plan_tick(view, window, item->finding);
    if (i == 0 || item)
      draw_plan_bar(document, view, window, lines[i], item ? item->after : diagnosis.plan.run, item);
    else
      draw_text(Face::sans, theme_of(window).text, lines[i].what + " " + lines[i].value, /*wrap=*/true);
    ImGui::PopID();
  }
}

}  // namespace gapscope
