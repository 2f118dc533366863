#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "app/cli/analyses.h"
#include "app/cli/in_and_out.h"
#include "app/cli/said_doubts.h"
#include "core/analyze/account/time_account.h"
#include "core/analyze/captured/captures.h"
#include "core/analyze/gpu/gpu_activity.h"
#include "core/analyze/gpu/idle_gaps.h"
#include "core/analyze/practices/practices.h"
#include "core/base/phrase.h"
#include "core/base/text.h"
#include "core/session/missing_words.h"
#include "core/session/trace_session.h"

namespace gapscope {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kGapsShown = 20, kGapsInText = 8;

// Times in which a device did nothing on any stream: all of its work taken as one stream.
Idle device_idle(const Trace& trace, const std::vector<GpuOp>& ops) {
  std::vector<StreamOps> devices;
  for (const std::int32_t device : devices_of(ops)) devices.push_back({device, -1, {}});
  for (std::uint32_t i = 0; i < ops.size(); ++i)
    std::ranges::lower_bound(devices, ops[i].device, {}, &StreamOps::device)->ops.push_back(i);
  return find_idle(trace, ops, devices);
}

// The gaps of a device follow one another.
std::size_t first_gap(const IdleGaps& all, std::int32_t device) {
  std::size_t first = 0, last = all.size();
  while (first < last) {
    const std::size_t middle = first + (last - first) / 2;
    if (all[middle].device < device)
      first = middle + 1;
    else
      last = middle;
  }
  return first;
}

std::vector<IdleGap> largest(const IdleGaps& all, std::int32_t device) {
  std::vector<IdleGap> gaps;
  for (std::size_t i = first_gap(all, device); i < all.size() && all[i].device == device; ++i) gaps.push_back(all[i]);
  std::stable_sort(gaps.begin(), gaps.end(),
                   [](const IdleGap& a, const IdleGap& b) { return a.span.length() > b.span.length(); });
  gaps.resize(std::min(gaps.size(), kGapsShown));
  return gaps;
}

std::span<const StreamIdle> streams_of_device(const Idle& idle, std::int32_t device) {
  return {std::ranges::lower_bound(idle.streams, device, {}, &StreamIdle::device),
          std::ranges::upper_bound(idle.streams, device, {}, &StreamIdle::device)};
}

std::string device_name(const Trace& trace, std::int32_t device) {
  const DeviceProperties* properties = trace.device(device);
  return properties ? properties->name : std::string();
}

Json timeline_json(const GpuTimeline& t) {
  return {{"count", t.count},
          {"busy_ns", t.busy},
          {"total_ns", t.total},
          {"compute_ns", t.compute},
          {"communication_ns", t.communication},
          {"exposed_communication_ns", t.exposed_communication},
          {"copy_ns", t.copy},
          {"exposed_copy_ns", t.exposed_copy},
          {"idle_ns", t.idle}};
}

Json cause_json(const Trace& trace, SliceId cause) {
  if (!cause) return nullptr;
  return {{"name", trace.name(cause)}, {"begin_ns", trace.begin(cause)}, {"end_ns", trace.end(cause)}};
}

// Of the work that the gap waited for.
std::int32_t stream_after(const Trace& trace, const IdleGap& gap) {
  const GpuRow* row = trace.gpu_row(gap.after);
  return row != nullptr ? row->stream : -1;
}

Json device_json(const Trace& trace, const GpuActivity& a, const Idle& idle, const Idle& device) {
  const std::string name = device_name(trace, a.device);
  Json json = {{"id", a.device},
               {"name", text_or_null(name)},
               {"over", {{"begin_ns", a.over.begin}, {"end_ns", a.over.end}}},
               {"utilization", or_null(a.figures.utilization)},
               {"sm_efficiency", or_null(a.figures.sm_efficiency)},
               {"achieved_occupancy_percent", or_null(a.figures.achieved_occupancy_percent)}};
  json.update(timeline_json(a.linked));
  json["counts"] = a.any_linked ? "linked" : "all";  // which work the figures above are of
  json["unlinked"] = {{"count", a.unlinked_count}, {"ns", a.unlinked_time}};
  json["all"] = timeline_json(a.all);
  json["hta"] = {{"kernel_time_ns", a.hta.kernel_time},
                 {"idle_ns", a.hta.idle},
                 {"compute_ns", a.hta.compute},
                 {"non_compute_ns", a.hta.non_compute},
                 {"communication_computation_overlap", or_null(a.hta.overlap)}};
  json["idle"] = Json::array();
  for (const StreamIdle& s : streams_of_device(idle, a.device))
    json["idle"].push_back(
        {{"stream", s.stream}, {"host_wait_ns", s.time[0]}, {"kernel_wait_ns", s.time[1]}, {"other_ns", s.time[2]}});
  json["gaps"] = Json::array();
  for (const IdleGap& g : largest(device.gaps, a.device))
    json["gaps"].push_back({{"begin_ns", g.span.begin},
                            {"end_ns", g.span.end},
                            {"stream", stream_after(trace, g)},
                            {"class", idle_class_name(g.idle_class)},
                            {"cause", cause_json(trace, g.cause)}});
  return json;
}

std::string figure(const std::optional<double>& fraction) { return fraction ? format_percent(*fraction) : "not in this trace"; }

std::string timeline_text(const GpuTimeline& linked, const GpuTimeline& all, bool both) {
  struct Line {
    const char* title;
    Ns GpuTimeline::*part;
  };
  constexpr Line kLines[] = {{"first to last work", &GpuTimeline::total},
                             {"compute, fills too", &GpuTimeline::compute},
                             {"exposed communication", &GpuTimeline::exposed_communication},
                             {"exposed copies", &GpuTimeline::exposed_copy},
                             {"idle", &GpuTimeline::idle},
                             {"total communication", &GpuTimeline::communication},
                             {"total copies", &GpuTimeline::copy}};
  std::string out =
      both ? fmt::format("  {:<24} {:>12} {:>9} {:>14} {:>9}\n", "", "launched here", "", "with unlinked", "") : std::string();
  for (const Line& line : kLines) {
    out += fmt::format("  {:<24} {:>12} {:>9}", line.title, format_duration(linked.*line.part),
                       format_part(linked.*line.part, linked.total));
    if (both) out += fmt::format(" {:>14} {:>9}", format_duration(all.*line.part), format_part(all.*line.part, all.total));
    out += '\n';
  }
  return out;
}

// As `gapscope why` has them: those at the window's begin and end, too.
std::string gaps_text(const Trace& trace, const DeviceAccount& device) {
  const std::vector<std::size_t> longest = device.longest_gaps(kGapsInText);
  if (longest.empty()) return {};
  std::string out = fmt::format("\n  {:<12} {:>12} {:>10}  {}\n", "longest gaps", "at", "ended on", "most of it");
  for (const std::size_t i : longest) {
    const DeviceGap& gap = device.gaps[i];
    const GpuRow* row = gap.ended_by ? trace.gpu_row(gap.ended_by) : nullptr;
    Ns most = 0;
    device.each_cause(i, [&](IdleCause cause, Ns time) { most += cause == gap.main ? time : 0; });
    out += fmt::format("  {:<12} {:>12} {:>10}  {}, {}\n", format_duration(gap.span.length()),
                       format_duration(gap.span.begin - trace.span.begin),
                       row != nullptr ? fmt::format("stream {}", row->stream) : "-",
                       idle_cause_title(gap.main, program_kind(trace)), format_duration(most));
  }
  return out;
}

std::string device_text(const Trace& trace, const GpuActivity& a, const Idle& idle, const TimeAccount& account,
                        bool has_steps) {
  const std::string name = printable(device_name(trace, a.device));
  std::string out = fmt::format("GPU {}{}{}\n", a.device, name.empty() ? "" : ": ", name);
  out += fmt::format(
      "  {:<24} {}{}\n  {:<24} {}\n  {:<24} {}\n\n", "utilization", figure(a.figures.utilization),
      a.figures.utilization ? fmt::format(", kernels alone, of {}, {}", format_duration(a.over.length()),
                                          has_steps ? "the steps" : "from the first GPU work to the last")
                            : "",
      in_words_of(vendor_of(trace), "est. SM efficiency"), figure(a.figures.sm_efficiency), "est. achieved occupancy",
      a.figures.achieved_occupancy_percent ? format_percent(*a.figures.achieved_occupancy_percent / 100) : "not in this trace");
  out += timeline_text(a.linked, a.all, a.any_linked && a.unlinked_count > 0);
  if (a.unlinked_count > 0)
    out += fmt::format(
        "  {} GPU operations, {}, have no launch in the file: it came before the recording or was not recorded. Let the GPU "
        "finish before the recorded steps.\n",
        format_count(static_cast<std::int64_t>(a.unlinked_count)), format_duration(a.unlinked_time));
  out += fmt::format("\n  {:<12} {:>12} {:>12} {:>12}\n", "HTA's idle", "host wait", "kernel wait", "other");
  for (const StreamIdle& s : streams_of_device(idle, a.device))
    out += fmt::format("  stream {:<5} {:>12} {:>12} {:>12}\n", s.stream, format_duration(s.time[0]),
                       format_duration(s.time[1]), format_duration(s.time[2]));
  const DeviceAccount* device = account.device(a.device);
  return device == nullptr ? out : out + gaps_text(trace, *device);
}

}  // namespace

std::string gpu_report(const TraceSession& session, const AnalysisOptions& options) {
  const Trace& trace = session.trace();
  const std::vector<GpuOp>& ops = session.ops();
  const std::vector<GpuActivity>& devices = session.usage().devices;
  const Idle idle = find_idle(trace, ops, streams_of(ops));
  if (options.json) {
    const Idle device = device_idle(trace, ops);
    Json json = {{"devices", Json::array()}};
    for (const GpuActivity& a : devices) json["devices"].push_back(device_json(trace, a, idle, device));
    if (devices.empty()) json["missing"] = trace.producer->no_gpu_work;
    return json_text(with_doubts(std::move(json), session));
  }
  if (devices.empty()) return std::string(trace.producer->no_gpu_work) + '\n';
  std::string out;
  if (const CaptureRecording capture = capture_recording(trace))
    out = fmt::format("This is {}: the figures below are of no run.\n", capture_words(capture));
  const TimeAccount& account = session.account();
  for (const GpuActivity& a : devices)
    out += (out.empty() ? "" : "\n") + device_text(trace, a, idle, account, session.steps().annotated);
  return out;
}

}  // namespace gapscope
