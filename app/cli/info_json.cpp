#include "app/cli/info.h"

#include <nlohmann/json.hpp>

#include "app/cli/in_and_out.h"
#include "app/cli/said_doubts.h"
#include "core/analyze/captured/captured_work.h"
#include "core/analyze/doubts.h"
#include "core/load/cpu_samples.h"
#include "core/trace/crop_mark.h"
#include "core/trace/profiler_reports.h"
#include "core/view/document.h"

namespace gapscope {
namespace {

using Json = nlohmann::ordered_json;

Json lanes_json(const Trace& trace) {
  Json list = Json::array();
  for (const Lane& lane : trace.lanes) {
    list.push_back({{"process", trace.processes[lane.process.index()].key},
                    {"thread", lane.key},
                    {"title", lane.title},
                    {"kind", lane_kind_name(lane.kind)},
                    {"slices", lane.slice_count},
                    {"max_depth", lane.depth_count > 0 ? lane.depth_count - 1 : 0},  // 0 is outermost
                    {"busy_ns", lane.busy},
                    {"total_dur_ns", lane.total_dur}});
  }
  return list;
}

Json flows_json(const FlowCounts& flows) {
  return {{"starts", flows.starts},
          {"steps", flows.steps},
          {"ends", flows.ends},
          {"bound", flows.bound},
          {"unbound_starts", flows.unbound_starts},
          {"unbound_ends", flows.unbound_ends}};
}

Json device_json(const DeviceProperties& d) {
  return {{"id", d.id},
          {"name", d.name},
          {"sms", d.sms},
          {"compute_major", d.compute_major},
          {"compute_minor", d.compute_minor},
          {"total_global_mem", d.total_global_mem},
          {"max_threads_per_block", d.max_threads_per_block},
          {"max_threads_per_sm", d.max_threads_per_sm},
          {"regs_per_block", d.regs_per_block},
          {"regs_per_sm", d.regs_per_sm},
          {"warp_size", d.warp_size},
          {"shared_mem_per_block", d.shared_mem_per_block},
          {"shared_mem_per_block_optin", d.shared_mem_per_block_optin},
          {"shared_mem_per_sm", d.shared_mem_per_sm}};
}

Json devices_json(const Header& header) {
  Json list = Json::array();
  for (const DeviceProperties& d : header.devices) list.push_back(device_json(d));
  return list;
}

Json report_json(const LoadReport& report) {
  Json list = Json::array();
  for (const ImportIssueEntry& entry : report.entries()) {
    Json first = Json::array();
    for (const ImportIssueExample& example : entry.first)
      first.push_back({{"offset", has_offset(example) ? Json(example.offset) : Json(nullptr)}, {"text", example.text}});
    list.push_back({{"kind", import_issue_word(entry.kind)},
                    {"count", entry.count},
                    {"sentence", import_issue_sentence(entry)},
                    {"first", std::move(first)}});
  }
  return list;
}

Json load_json(const Document& doc) {
  const LoadFigures& figures = doc.trace.figures;
  const double seconds = figures.seconds + doc.index_seconds;       // file to queryable
  const double mb = static_cast<double>(figures.text_bytes) / 1e6;  // of JSON text, after inflating
  const double events = static_cast<double>(figures.events);
  return {{"seconds", seconds},
          {"mb_per_s", seconds > 0 ? mb / seconds : 0.0},
          {"events_per_s", seconds > 0 ? events / seconds : 0.0},
          {"bytes_per_event", events > 0 ? static_cast<double>(figures.peak_rss_bytes) / events : 0.0},
          {"threads", figures.threads},
          {"peak_rss_bytes", figures.peak_rss_bytes},
          {"text_bytes", figures.text_bytes},
          {"read_seconds", figures.read_seconds},
          {"parse_seconds", figures.parse_seconds},
          {"build_seconds", figures.build_seconds},
          {"index_seconds", doc.index_seconds}};
}

Json phases_json(const LoadFigures& figures) {
  Json phases = Json::object();
  for (std::size_t c = 0; c < figures.phases.size(); ++c)
    if (figures.phases[c] > 0) phases[std::string(1, static_cast<char>(c))] = figures.phases[c];
  return phases;
}

std::size_t counter_samples(const Trace& trace) {
  std::size_t count = 0;
  for (const Counter& counter : trace.counters) count += counter.samples.size();
  return count;
}

// Work of replayed graphs, and with what it is joined.
Json graphs_json(const CapturedWork& work) {
  const CapturedWork::Counts& n = work.counts();
  Json recordings = Json::array();
  for (const Trace* recording : work.recordings()) recordings.push_back(recording->path);
  return {{"replayed_graphs", n.graphs}, {"joined_graphs", n.joined_graphs}, {"gpu_work", n.pieces},
          {"joined", n.joined},          {"captures", n.captures},           {"recordings", recordings},
          {"not_joined", work.reasons()}};
}

}  // namespace

std::string info_json(const Document& doc) {
  const Trace& trace = doc.trace;
  const LaunchCounts& launches = doc.links.counts();
  Json json = {{"file", trace.path},
               {"bytes", trace.figures.file_bytes},
               {"events", trace.figures.events},
               {"phases", phases_json(trace.figures)},
               {"slices", trace.slice_count()},
               {"instants", trace.instants.size()},
               {"counter_samples", counter_samples(trace)},
               {"begin_ns", trace.span.begin},
               {"end_ns", trace.span.end},
               {"lanes", lanes_json(trace)},
               {"flows", flows_json(trace.flow_counts)},
               {"launches",
                {{"gpu_slices", launches.gpu_slices},
                 {"joined_to_call", launches.joined_to_call},
                 {"joined_to_op", launches.joined_to_op}}},
               {"devices", devices_json(trace.header)},
               {"producer", trace.producer->id},
               {"doubts", doubts_json(doubts_of(trace, doc.session.ops()))},
               {"report", report_json(trace.report)},
               {"load", load_json(doc)}};
  if (const CapturedWork* captured = trace.captured.get()) json["graphs"] = graphs_json(*captured);
  if (const std::vector<std::string> said = profiler_reports(trace); !said.empty()) json["profiler_reports"] = said;
  if (const std::uint64_t samples = cpu_samples_of_export(trace); samples > 0) json["cpu_samples"] = samples;
  if (const auto crop = crop_mark(trace))
    json["part_of"] = {{"from_ns", crop->window.begin},
                       {"to_ns", crop->window.end},
                       {"begin_ns", crop->whole.begin},
                       {"end_ns", crop->whole.end}};
  if (const CaptureRecording capture = capture_recording(trace))
    json["capture"] = {{"captured_calls", capture.calls}, {"graphs", capture.captures}, {"gpu_work", capture.gpu_work}};
  return json_text(json, 2);
}

}  // namespace gapscope
