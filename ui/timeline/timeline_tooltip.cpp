// What the pointer rests on, in two or three lines.
#include <cmath>

#include "core/analyze/kernel_name/shown_name.h"
#include "core/base/text.h"
#include "core/view/compare/kernel_marks.h"
#include "core/view/details/details_gpu.h"
#include "core/view/document.h"
#include "core/view/timeline/gap_view.h"
#include "core/view/timeline/ruler.h"
#include "ui/timeline/timeline_scene.h"
#include "ui/widgets/text.h"

namespace gapscope {
namespace {

constexpr float kWrap = 520;                 // px at scale 1; long kernel names continue in the next line
constexpr std::size_t kMostNameChars = 120;  // two such lines; the details have the whole name

void line(std::string_view text) { ImGui::TextUnformatted(text.data(), text.data() + text.size()); }

void muted_line(const TimelineScene& scene, const std::string& text) {
  ImGui::PushStyleColor(ImGuiCol_Text, colour(scene.theme.muted));
  line(text);
  ImGui::PopStyleColor();
}

std::string since_start(const TimelineScene& scene, Ns t) {
  return "at " + exact_time_text(t - axis_zero(scene.view, scene.document.trace.span));
}

// Of two compared traces: what became of the kernel.
void mark_line(const TimelineScene& scene, SliceId slice) {
  const std::optional<LinkedAxis>& linked = scene.view.linked;
  const KernelMark mark = linked && linked->marks ? linked->marks->of(scene.document.trace.name_id(slice)) : KernelMark::none;
  const std::string here = linked && linked->is_a ? "A" : "B", there = here == "A" ? "B" : "A";
  if (mark == KernelMark::only) line("Only " + here + "'s step runs it.");
  if (mark == KernelMark::changed) line(there + "'s step runs another variant, or a different number of runs.");
}

void slice_lines(const TimelineScene& scene, SliceId slice) {
  const Trace& trace = scene.document.trace;
  push_face(Face::mono);
  line(elide_middle(printable(shown_name(trace, slice)), kMostNameChars));
  pop_face();
  const Ns duration = trace.duration(slice);
  line(format_duration(duration));
  if (duration >= kNsPerUs) {
    ImGui::SameLine();
    muted_line(scene, "(" + format_duration_exact(duration) + ")");
  }
  muted_line(scene, since_start(scene, trace.begin(slice)) + "   " + std::string(kind_name(trace.kind(slice))));
  for (const std::string& fact : hover_lines(scene.document, slice)) line(fact);
  mark_line(scene, slice);
}

// Of a run of a GPU: how much of its time the GPU is at work.
void busy_line(const TimelineScene& scene, const Zone& zone) {
  const Trace& trace = scene.document.trace;
  const Process& process = trace.processes[trace.lane(trace.lane_id(zone.slice)).process.index()];
  const TimeAccount* account = process.is_gpu && is_gpu_work(trace.kind(zone.slice)) ? account_of(scene.document) : nullptr;
  const DeviceAccount* device = account ? account->device(process.device) : nullptr;
  if (!device || !device->window.contains(zone.span) || zone.span.empty()) return;
  const AccountTimes times = account->times_in(*device, zone.span);
  line("GPU " + std::to_string(process.device) + " is busy for " +
       format_percent(static_cast<double>(times.window - times.idle_total()) / static_cast<double>(times.window)) + " of that");
}

void run_lines(const TimelineScene& scene, const Zone& zone) {
  line(format_count(zone.count) + " slices within " + format_duration(zone.span.length()));
  busy_line(scene, zone);
  muted_line(scene, since_start(scene, zone.span.begin) + "   zoom in to separate them. The longest:");
  slice_lines(scene, zone.slice);
}

void instant_lines(const TimelineScene& scene, const Zone& zone) {
  const Trace& trace = scene.document.trace;
  const Instant& first = trace.instants[zone.first];
  line(printable(trace.strings[first.name]));
  if (zone.count > 1) line("and " + format_count(zone.count - 1) + " more here");
  muted_line(scene, since_start(scene, first.time));
}

void lane_lines(const TimelineScene& scene, LaneId id) {
  const Lane& lane = scene.document.trace.lane(id);
  line(lane.title);
  muted_line(scene, format_count(lane.slice_count) + " slices, nested " + std::to_string(lane.depth_count) +
                        " deep, busy for " + format_duration(lane.busy));
  if (lane.overlapping > 0) {
    muted_line(scene, format_count(lane.overlapping) + " slices overlap others without nesting and are drawn one depth lower");
  }
  muted_line(scene, "Click to fold or open");
}

void flow_lines(const TimelineScene& scene, const Zone& zone) {
  muted_line(scene, "Click to go to");
  slice_lines(scene, zone.slice);
}

void badge_lines(const TimelineScene& scene, const Zone& zone) {
  const Diagnosis& diagnosis = *scene.document.diagnosis();
  const Finding& finding = diagnosis.findings[zone.first].finding;
  draw_text(Face::bold, severity_colour(finding.severity, scene.theme), title_of(diagnosis, *finding.rule));
  draw_text(Face::sans, scene.theme.text, finding.summary, /*wrap=*/true);
  if (zone.count > 1) muted_line(scene, "and " + format_count(zone.count - 1) + " more here; zoom in to separate them");
  muted_line(scene, "Click for what it means and what to do");
}

void gap_lines(const TimelineScene& scene, const Zone& zone) {
  const TimeAccount* account = account_of(scene.document);
  const std::int32_t number = scene.document.trace.processes[zone.process.index()].device;
  const DeviceAccount* device = account ? account->device(number) : nullptr;
  if (!device || zone.first >= device->gaps.size()) return;
  line("GPU " + std::to_string(number) + " is idle for " + format_duration(zone.span.length()));
  const ProgramKind program = program_kind(scene.document.trace);
  for (const DeviceAccount::CauseTime& cause : device->causes(zone.first))
    muted_line(scene, format_duration(cause.time) + "  " +
                          std::string(part_words({AccountPart::Kind::idle, cause.cause, cause.time}, program)));
  muted_line(scene, "Click for what ended it and what the host did");
}

void counter_title_lines(const TimelineScene& scene, const CounterLane& lane) {
  line(lane.title);
  muted_line(scene, lane.help);
  muted_line(scene, "Click to fold or open");
}

// The value under the pointer; from where to where it goes within that pixel, if it does.
void counter_lines(const TimelineScene& scene, const CounterLane& lane) {
  line(lane.title);
  const int column = static_cast<int>(std::floor(scene.pointer.x - scene.areas.lanes.x0));
  if (column < 0 || column >= scene.grid.width()) return;
  std::vector<CounterColumn> columns;
  for (const CounterLane::Named& named : lane.series) {
    named.series->columns(scene.grid.part(column, 1), columns);
    const CounterColumn& at = columns.front();
    const std::string prefix = named.name.empty() ? "" : named.name + " ";
    const std::string low = counter_text(lane.unit, at.low), high = counter_text(lane.unit, at.high);
    const bool swings = at.known && low != high;
    line(prefix + (!at.known ? "not known here" : swings ? low + " to " + high : high));
    if (swings && at.averaged) line(prefix + counter_text(lane.unit, at.mean) + " on average over this pixel");
  }
  muted_line(scene, since_start(scene, scene.grid.begin_of(column)));
  muted_line(scene, lane.help);
}

}  // namespace

void draw_timeline_tooltip(const TimelineScene& scene, const Zone& hovered) {
  if (hovered.kind == ZoneKind::none || hovered.kind == ZoneKind::process_title) return;
  begin_tooltip({hovered.x0, hovered.y0}, {hovered.x1, hovered.y1});
  ImGui::PushTextWrapPos(kWrap * scene.painter.scale());
  switch (hovered.kind) {
    case ZoneKind::slice: slice_lines(scene, hovered.slice); break;
    case ZoneKind::run: run_lines(scene, hovered); break;
    case ZoneKind::instants: instant_lines(scene, hovered); break;
    case ZoneKind::pin:
    case ZoneKind::lane_title: lane_lines(scene, hovered.lane); break;
    case ZoneKind::badge: badge_lines(scene, hovered); break;
    case ZoneKind::flow_end: flow_lines(scene, hovered); break;
    case ZoneKind::counter: counter_lines(scene, (*scene.document.counters())[hovered.first]); break;
    case ZoneKind::counter_title: counter_title_lines(scene, (*scene.document.counters())[hovered.first]); break;
    case ZoneKind::gap: gap_lines(scene, hovered); break;
    case ZoneKind::replayed: draw_replayed_lines(scene, hovered); break;
    case ZoneKind::path: draw_path_lines(scene, hovered); break;
    case ZoneKind::more_streams:
      muted_line(scene, "Streams with less work than those above. Click to show or hide them");
      break;
    case ZoneKind::python:
      muted_line(scene, "The Python frames of this thread. Y shows or folds the frames of all threads");
      break;
    case ZoneKind::more_counters: muted_line(scene, "Counters of this process. Click to show or hide them"); break;
    case ZoneKind::process_title:
    case ZoneKind::none: break;
  }
  ImGui::PopTextWrapPos();
  end_tooltip();
}

}  // namespace gapscope
