#include "ui/snapshot/snapshot_page.h"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/view/timeline/time_view.h"
#include "ui/snapshot/snapshot_drawing.h"
#include "ui/widgets/bars.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

constexpr float kInspector = 330, kLeastPage = 520;         // px at scale 1
constexpr float kChartShare = 0.5f;                         // of the height
constexpr std::int64_t kMostBytes = std::int64_t{1} << 60;  // of the chart
constexpr std::size_t kMostFrames = 60;                     // of a stack
constexpr Ns kPartOfTrace = 20;                             // is shown around a moment

constexpr std::array<Choice, 5> kTabs = {{
    {"Flame", "Memory at the chosen time by call stack, the outermost frame on top."},
    {"Lines", "The same by line of the program."},
    {"Segments", "Memory that PyTorch reserved at that time, with its holes."},
    {"Grows", "Memory that each step leaves allocated."},
    {"Compare", "Memory that is in use now and was not in the earlier snapshot."},
}};
constexpr std::array<std::string_view, 5> kTabNames = {"flame", "lines", "segments", "grows", "compare"};

void begin_part(const char* id, const Box& box, const WindowState& window, ImGuiWindowFlags flags = 0) {
  ImGui::SetCursorScreenPos({box.x0, box.y0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {8 * window.frame.scale, 6 * window.frame.scale});
#if IMGUI_VERSION_NUM >= 19000
  ImGui::BeginChild(id, {box.width(), box.height()}, ImGuiChildFlags_AlwaysUseWindowPadding, flags);
#else
  ImGui::BeginChild(id, {box.width(), box.height()}, false, ImGuiWindowFlags_AlwaysUseWindowPadding | flags);
#endif
  ImGui::PopStyleVar();
}

// The moment that answers: when memory ran out, else the peak.
std::optional<std::uint32_t> first_moment(const OpenedDevice& d) {
  return !d.ooms.empty() ? std::optional(d.ooms.back().event) : d.peak.event;
}

std::size_t first_device(const OpenedSnapshot& opened) {
  std::size_t best = 0;
  const auto rank = [&](std::size_t i) {
    const OpenedDevice& d = opened.devices[i];
    return std::tuple(!d.ooms.empty(), !d.leaks.empty(), d.peak.bytes);
  };
  for (std::size_t i = 1; i < opened.devices.size(); ++i)
    if (rank(i) > rank(best)) best = i;
  return best;
}

}  // namespace

std::optional<SnapshotPage::Tab> SnapshotPage::tab_of(std::string_view name) {
  const auto at = std::ranges::find(kTabNames, name);
  return at == kTabNames.end() ? std::nullopt : std::optional(static_cast<Tab>(at - kTabNames.begin()));
}

std::string_view SnapshotPage::name_of(Tab tab) { return kTabNames[static_cast<std::size_t>(tab)]; }

void SnapshotPage::forget(const Trace* shown, Ns middle) {
  opened_ = nullptr;
  if (!shown) return;
  if (trace_before_ != shown->path) trace_before_ = shown->path;
  time_before_ = middle;
  add_saturating(time_before_, shown->header.base_time);
}

void SnapshotPage::adopt(const OpenedSnapshot& opened) {
  const bool is_again = path_ == opened.path && !opened.comparison;
  if (!is_again && !tab_chosen_) tab_ = opened.comparison ? Tab::compare : Tab::flame;
  tab_chosen_ = false;
  if (!opened.comparison && tab_ == Tab::compare) tab_ = Tab::flame;
  opened_ = &opened;
  path_ = opened.path;
  headline_ = printable(snapshot_headline(opened));
  boxes_of_ = nullptr;
  if (!opened.devices.empty()) choose_device(opened, first_device(opened));
  const std::string trace = std::exchange(trace_before_, {});
  if (!opened.program || opened.program->path != trace || opened.devices.empty()) return;
  const auto& events = opened.devices[device_].device->events;
  const auto after = std::partition_point(events.begin(), events.end(),
                                          [&](const SnapshotEvent& e) { return e.time_us <= time_before_ / kNsPerUs; });
  if (after != events.begin()) wanted_ = static_cast<std::uint32_t>(after - events.begin()) - 1;
}

void SnapshotPage::choose_device(const OpenedSnapshot& opened, std::size_t device) {
  device_ = device;
  const OpenedDevice& d = opened.devices[device];
  block_.reset();
  zoom_ = 0;
  wanted_ = first_moment(d);
  asked_ = false;
  motion_.stop();
  view_.move.active = false;
  view_.time = fit(axis(opened).reach());
  reserved_.clear();
  std::int64_t reserved = d.device->totals.reserved;
  for (auto i = static_cast<std::uint32_t>(d.device->events.size()); i-- > 0;) {
    using Action = SnapshotEvent::Action;
    const SnapshotEvent& e = d.device->events[i];
    const bool grows = e.action == Action::segment_alloc || e.action == Action::segment_map;
    if (!grows && e.action != Action::segment_free && e.action != Action::segment_unmap) continue;
    reserved_.emplace_back(i, reserved);
    add_saturating(reserved, grows ? -std::min(reserved, e.size) : e.size);
  }
  reserved_.emplace_back(0, reserved);  // before the first of these
  std::ranges::reverse(reserved_);
  most_ = std::max<std::int64_t>(d.history.peak(), 1);
  for (const auto& [event, bytes] : reserved_) most_ = std::max(most_, bytes);
  most_ = std::min(most_, kMostBytes);
  find_annotations(opened);
}

// Pairs of a name's start and end; an end that is missing is the last event.
void SnapshotPage::find_annotations(const OpenedSnapshot& opened) {
  annotations_.clear();
  const MemoryAxis on = axis(opened);
  std::vector<std::pair<StringId, Ns>> open;
  for (const SnapshotAnnotation& a : opened.snapshot.annotations) {
    if (a.device != opened.devices[device_].device->id) continue;
    const Ns at = on.position_at(a.time_us);
    if (a.is_start) {
      open.emplace_back(a.name, at);
      continue;
    }
    const auto begun = std::find_if(open.rbegin(), open.rend(), [&](const auto& o) { return o.first == a.name; });
    if (begun == open.rend()) continue;
    annotations_.push_back({a.name, begun->second, std::max(at, begun->second)});
    open.erase(std::next(begun).base());
  }
  for (const auto& [name, begin] : open) annotations_.push_back({name, begin, on.reach().end});
  std::ranges::stable_sort(annotations_, {}, &AnnotationSpan::begin);
}

void SnapshotPage::want(std::optional<std::uint32_t> event) {
  if (asked_ && wanted_ == event) return;
  wanted_ = event;
  asked_ = true;
  question_ = AskMoment{device_, event};
}

void SnapshotPage::take_keys(std::vector<KeyPress>& presses, const WindowState& window) {
  if (!opened_ || opened_->devices.empty()) return;
  std::erase_if(presses, [&](const KeyPress& press) {
    if (press.mods != kNoMods) return false;
    if (press.key == Key::f || press.key == Key::home) {
      go_to(view_, window, fit(axis(*opened_).reach()));
      return true;
    }
    if (press.key != Key::escape || (!block_ && zoom_ == 0)) return false;
    if (zoom_ != 0 && tab_ == Tab::flame)
      zoom_ = 0;
    else
      block_.reset();
    return true;
  });
}

void SnapshotPage::draw(const Box& box, const SnapshotScene& scene, WindowState& window, const TimelineKeys& keys,
                        double delta_s) {
  const OpenedSnapshot& opened = *scene.opened;
  if (opened_ != &opened) adopt(opened);
  if (opened.devices.empty()) {
    begin_part("snapshot", box, window);
    draw_absence(window, "This snapshot has no GPU memory: it was taken before anything was allocated.");
    return ImGui::EndChild();
  }
  if (!asked_) want(wanted_);
  const bool answered = scene.moment && scene.moment->device == device_ && scene.moment->event == wanted_;
  const bool of_device = scene.moment && scene.moment->device == device_;
  const SnapshotMoment& moment = of_device ? *scene.moment : *opened.devices[device_].end;
  Drawing d{opened, moment, !answered && wanted_.has_value(), window, keys, delta_s};
  if (boxes_of_ != &moment) boxes_of_ = &moment, zoom_ = 0, boxes_width_ = map_width_ = 0;
  const bool has_inspector = box.width() >= kLeastPage * window.frame.scale;
  const float right = has_inspector ? box.x1 - d.px(kInspector) : box.x1;
  const float bar = d.px(34);
  const float middle = std::round(box.y0 + bar + (box.height() - bar) * kChartShare);
  begin_part("snapshot bar", {box.x0, box.y0, right, box.y0 + bar}, window,
             ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  draw_toolbar(d);
  ImGui::EndChild();
  draw_chart(d, {box.x0, box.y0 + bar, right, middle});
  begin_part("snapshot below", {box.x0, middle, right, box.y1}, window);
  draw_tabs(d);
  ImGui::EndChild();
  if (!has_inspector) return;
  ImGui::PushStyleColor(ImGuiCol_ChildBg, colour_vec(d.theme.surface));
  begin_part("snapshot answer", {right, box.y0, box.x1, box.y1}, window);
  ImGui::PopStyleColor();
  draw_inspector(d);
  ImGui::EndChild();
}

// The same events stay in sight.
void SnapshotPage::show_by_time(bool by_time) {
  if (!opened_ || opened_->devices.empty() || by_time == by_time_) return;
  const MemoryAxis before = axis(*opened_);
  const std::uint32_t first = before.event_at(view_.time.span.begin), last = before.event_at(view_.time.span.end);
  by_time_ = by_time;
  const MemoryAxis now = axis(*opened_);
  const bool whole = first == 0 && last == opened_->devices[device_].device->events.size();
  view_.move.active = false;
  view_.time =
      whole ? fit(now.reach()) : within_limits(TimeView{{now.position_of(first), now.position_of(last)}, 0, 0}, now.reach());
  find_annotations(*opened_);
}

void SnapshotPage::zoom(double share) {
  if (!opened_ || opened_->devices.empty()) return;
  const Span reach = axis(*opened_).reach();
  view_.time = zoomed(fit(reach), share, 0.5, reach);
}

void SnapshotPage::pan(double widths) {
  if (opened_ && !opened_->devices.empty()) view_.time = panned(view_.time, widths, axis(*opened_).reach());
}

void SnapshotPage::draw_toolbar(Drawing& d) {
  if (d.opened.devices.size() > 1) {
    std::vector<std::string> names;
    for (const OpenedDevice& device : d.opened.devices) names.push_back(fmt::format("GPU {}", device.device->id));
    std::vector<Choice> choices;
    for (const std::string& name : names) choices.push_back({name.c_str(), "Show the memory of this GPU."});
    const std::size_t chosen = draw_choice("device", choices, device_, d.window);
    if (chosen != device_) choose_device(d.opened, chosen);
    ImGui::SameLine(0, d.px(14));
  }
  static constexpr std::array<Choice, 2> kAxes = {
      {{"Events", "Each allocation and each free has the same width."}, {"Time", "The axis is time."}}};
  const bool by_time = draw_choice("axis", kAxes, by_time_ ? 1 : 0, d.window) == 1;
  if (by_time != by_time_) show_by_time(by_time);
  ImGui::SameLine(0, d.px(14));
  const OpenedDevice& device = d.device(device_);
  const auto button = [&](const char* title, const char* help, std::optional<std::uint32_t> event) {
    if (ImGui::Button(title)) want(event);
    draw_hover(help);
    ImGui::SameLine();
  };
  if (!device.ooms.empty()) button("Out of memory", "Show the memory when an allocation failed.", device.ooms.back().event);
  if (device.peak.event) button("Peak", "Show the memory at the peak.", device.peak.event);
  button("End", "Show the memory at the time of the snapshot.", std::nullopt);
  if (d.opened.program && !device.device->events.empty()) {
    if (ImGui::Button("In the trace")) show_in_trace(d);
    draw_hover("Show what the program did at this time, in the trace of the same run.");
    ImGui::SameLine();
  }
  ImGui::SameLine(0, d.px(14));
  draw_text(Face::sans, d.theme.muted,
            fmt::format("{} events, peak {}", count_text(device.device->events.size()), bytes_text(device.peak.bytes)));
}

void SnapshotPage::show_in_trace(Drawing& d) {
  const auto& events = d.device(device_).device->events;
  const ProgramTrace& program = *d.opened.program;
  const auto event = std::min<std::size_t>(wanted_.value_or(kBeforeHistory), events.size() - 1);
  const std::optional<Ns> time = program.time_of(events[event].time_us);
  if (!time) return void(d.window.key_hint = "The trace was not recorded at that moment.");
  const Ns at = *time - program.span.begin, around = std::max(kNsPerMs, program.span.length() / kPartOfTrace) / 2;
  d.window.link = ViewLink{program.path, Span{at - around, at + around}, {}, {}, {}};
  trace_ = program.path;
}

void SnapshotPage::draw_tabs(Drawing& d) {
  const std::size_t count = d.opened.comparison ? kTabs.size() : kTabs.size() - 1;
  tab_ = static_cast<Tab>(
      draw_choice("tab", std::span(kTabs).first(count), std::min(static_cast<std::size_t>(tab_), count - 1), d.window));
  ImGui::SameLine(0, d.px(14));
  const bool at_end = !d.moment.event;
  std::string at = at_end ? "when the snapshot was taken" : fmt::format("after event {}", count_text(*d.moment.event));
  for (const OutOfMemory& oom : d.device(device_).ooms)
    if (d.moment.event == oom.event) at = fmt::format("when memory ran out (event {})", count_text(oom.event));
  if (!at_end && d.moment.event == d.device(device_).peak.event)
    at = fmt::format("at the peak (event {})", count_text(*d.moment.event));
  if (d.is_late) at += ", computing another time...";
  if (tab_ != Tab::grows && tab_ != Tab::compare)
    draw_text(Face::sans, d.theme.muted, at);
  else
    ImGui::NewLine();
  switch (tab_) {
    case Tab::flame: return draw_flame(d);
    case Tab::lines: return draw_lines(d);
    case Tab::segments: return draw_segments(d);
    case Tab::grows: return draw_growth(d);
    case Tab::compare: return draw_comparison(d);
  }
}

void SnapshotPage::draw_inspector(Drawing& d) {
  const OpenedDevice& device = d.device(device_);
  const bool failed = !device.ooms.empty();
  draw_text(Face::bold, failed ? d.theme.costly : d.theme.text, headline_, /*wrap=*/true);
  if (failed)
    for (const std::string& remedy : oom_remedies(d.snapshot(), device.ooms.back()))
      draw_text(Face::sans, d.theme.text, printable(remedy), /*wrap=*/true);
  if (failed && !device.leaks.empty())
    draw_text(Face::sans, d.theme.notable, printable(leak_sentence(d.snapshot(), device.steps, device.leaks.front())),
              /*wrap=*/true);
  ImGui::Dummy({0, d.px(6)});
  draw_block(d);
  draw_moment(d);
}

void SnapshotPage::draw_moment(Drawing& d) {
  const SnapshotTotals& t = d.moment.state.totals;
  const auto row = [&](const char* what, const std::string& value) {
    draw_text(Face::sans, d.theme.muted, what);
    ImGui::SameLine();
    draw_text_right(Face::mono, d.theme.text, value);
  };
  row("reserved", bytes_text(t.reserved));
  row("in use", bytes_text(t.active));
  row("free in segments", bytes_text(t.free));
  row("largest hole", bytes_text(t.largest_free));
  row("segments", count_text(t.segments));
  ImGui::Dummy({0, d.px(6)});
  for (const KindHolder& kind : d.moment.holders.kinds) {
    std::string words(gapscope::name_of(kind.kind));
    std::ranges::replace(words, '_', ' ');
    row(words.c_str(), bytes_text(kind.bytes));
  }
  if (d.snapshot().unreadable > 0)
    draw_text(Face::sans, d.theme.notable,
              fmt::format("{} records are not in PyTorch's format and were left out.", count_text(d.snapshot().unreadable)),
              /*wrap=*/true);
}

void SnapshotPage::draw_block(Drawing& d) {
  if (!block_) {
    draw_text(Face::sans, d.theme.muted, "Click an allocation to see its size, its life and its stack.", /*wrap=*/true);
    return ImGui::Dummy({0, d.px(6)});
  }
  const OpenedDevice& device = d.device(device_);
  const BlockLife& b = device.history.blocks()[*block_];
  const auto& events = device.device->events;
  const bool ends = b.until < events.size();
  std::string life =
      b.before_history ? "in use before the history began" : fmt::format("allocated by event {}", count_text(b.from));
  life += ends ? fmt::format(", freed by event {}", count_text(b.until)) : ", in use when the snapshot was taken";
  if (!b.before_history && ends)
    life += fmt::format(": {}", format_duration((events[b.until].time_us - events[b.from].time_us) * 1000));
  draw_text(Face::bold, d.theme.text, fmt::format("{} at 0x{:x}", bytes_text(b.size), b.address));
  draw_text(Face::sans, d.theme.text, life + ".", /*wrap=*/true);
  const auto frames = d.snapshot().stack(b.stack);
  if (frames.empty()) draw_text(Face::sans, d.theme.muted, holder_words(d.snapshot(), b.stack, b.before_history), true);
  for (std::size_t i = 0; i < std::min(frames.size(), kMostFrames); ++i) {
    const SnapshotFrame& f = d.snapshot().frames[frames[i]];
    const bool own = frames[i] == own_frame(d.snapshot(), b.stack);
    draw_text(Face::mono, own ? d.theme.accent : d.theme.muted, printable(place_words(d.snapshot(), frames[i])), true);
    draw_hover(printable(d.snapshot().texts[f.file]) + (f.line > 0 ? fmt::format(":{}", f.line) : ""));
  }
  if (frames.size() > kMostFrames)
    draw_text(Face::sans, d.theme.muted, fmt::format("{} more frames", count_text(frames.size() - kMostFrames)));
  ImGui::Dummy({0, d.px(6)});
}

}  // namespace gapscope
