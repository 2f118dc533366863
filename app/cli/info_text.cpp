#include "app/cli/info.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <vector>

#include "core/analyze/captured/captured_work.h"
#include "core/analyze/practices/practices.h"
#include "core/base/text.h"
#include "core/diagnose/trust.h"
#include "core/load/cpu_samples.h"
#include "core/trace/crop_mark.h"
#include "core/trace/profiler_reports.h"
#include "core/view/document.h"

namespace gapscope {
namespace {

using Out = std::back_insert_iterator<std::string>;

constexpr std::size_t kMostDevices = 64;  // a machine has fewer; a file may say anything
constexpr std::size_t kTitleChars = 44;   // with its figures, a lane fits 100 columns

std::string count(std::uint64_t n) { return format_count(static_cast<std::int64_t>(n)); }

// Pads by code points, which is what a terminal shows for the names that occur.
std::string padded(std::string_view text, std::size_t width) {
  std::string out = elide_middle(printable(text), width);
  out.append(width - std::min(width, utf8_length(out)), ' ');
  return out;
}

void add_row(Out out, std::string_view key, std::string_view value) { fmt::format_to(out, "{:<10} {}\n", key, value); }

void add_load(Out out, const Document& doc) {
  const LoadFigures& load = doc.trace.figures;
  const double seconds = std::max(load.seconds + doc.index_seconds, 1e-9);  // file to queryable
  const double events = static_cast<double>(std::max<std::uint64_t>(load.events, 1));
  add_row(out, "load",
          fmt::format("{:.3f} s with {} thread{}: {:.0f} MB/s, {} events a second", seconds, load.threads,
                      load.threads == 1 ? "" : "s", static_cast<double>(load.text_bytes) / 1e6 / seconds,
                      count(static_cast<std::uint64_t>(events / seconds))));
  add_row(out, "stages",
          fmt::format(
              "parsing {:.3f} s with {:.3f} s of reading by all threads together, building lanes {:.3f} s, indexing {:.3f} s",
              load.parse_seconds, load.read_seconds, load.build_seconds, doc.index_seconds));
  add_row(out, "memory",
          fmt::format("{} at peak, {:.0f} bytes an event", format_bytes(load.peak_rss_bytes),
                      static_cast<double>(load.peak_rss_bytes) / events));
}

void add_summary(Out out, const Document& doc) {
  const Trace& trace = doc.trace;
  const LoadFigures& load = trace.figures;
  add_row(out, "file", printable(trace.path));
  add_row(out, "size", fmt::format("{} on disk, {} of JSON", format_bytes(load.file_bytes), format_bytes(load.text_bytes)));
  if (trace.producer->id != kPyTorch.id) add_row(out, "made by", trace.producer->title);
  const std::optional<CropMark> crop = crop_mark(trace);
  add_row(out, "length", crop ? crop_words(*crop) : format_duration(trace.span.length()));
  add_row(out, "events",
          fmt::format("{}, of these {} slices and {} instants", count(load.events), count(trace.slice_count()),
                      count(trace.instants.size())));
  const FlowCounts& flows = trace.flow_counts;
  add_row(out, "flows",
          fmt::format("{} bound; without a partner: {} at their start, {} at their end", count(flows.bound),
                      count(flows.unbound_starts), count(flows.unbound_ends)));
  const LaunchCounts& launches = doc.links.counts();
  add_row(out, "GPU work",
          fmt::format("{} kernels and copies, {} with their call, {} with their operator", count(launches.gpu_slices),
                      count(launches.joined_to_call), count(launches.joined_to_op)));
  if (const CapturedWork* captured = trace.captured.get()) {
    add_row(out, "graphs", captured_text(*captured));
    for (const std::string& reason : captured->reasons()) add_row(out, "", reason);
  }
  if (const CaptureRecording capture = capture_recording(trace)) add_row(out, "kind", capture_words(capture));
  add_load(out, doc);
}

void add_device(Out out, Vendor vendor, const DeviceProperties& d) {
  std::string text = fmt::format("{}: {}", d.id, d.name.empty() ? "unnamed" : printable(d.name));
  if (d.sms > 0) text += fmt::format(", {} SMs", d.sms);
  if (d.total_global_mem > 0) text += ", " + format_bytes(static_cast<std::uint64_t>(d.total_global_mem));
  if (d.compute_major > 0) text += fmt::format(", compute {}.{}", d.compute_major, d.compute_minor);
  add_row(out, "device", in_words_of(vendor, text));
}

void add_lanes(Out out, const Trace& trace) {
  fmt::format_to(out, "\n{:<{}} {:<10} {:>10} {:>6} {:>10} {:>10}\n", "lane", kTitleChars, "kind", "slices", "depths", "busy",
                 "total");
  ProcessId process;
  for (const Lane& lane : trace.lanes) {
    if (lane.process != process) {
      process = lane.process;
      fmt::format_to(out, "{}\n", printable(trace.processes[process.index()].title));
    }
    fmt::format_to(out, "  {} {:<10} {:>10} {:>6} {:>10} {:>10}\n", padded(lane.title, kTitleChars - 2),
                   lane_kind_name(lane.kind), count(lane.slice_count), lane.depth_count, format_duration(lane.busy),
                   format_duration(lane.total_dur));
  }
}

void add_example(Out out, const ImportIssueExample& example) {
  const std::string text = elide_middle(printable(example.text), 80);
  if (!has_offset(example))
    fmt::format_to(out, "    {}\n", text);
  else if (text.empty())
    fmt::format_to(out, "    at byte {}\n", count(example.offset));
  else
    fmt::format_to(out, "    at byte {}: {}\n", count(example.offset), text);
}

bool is_of_writing(const Doubt& doubt) {
  return doubt.kind == DoubtKind::device_waits || doubt.kind == DoubtKind::no_device_ids;
}

// Doubts of what is recorded stand above all else; here those of how it is written.
void add_report(Out out, const Trace& trace, const std::vector<Doubt>& doubts) {
  const LoadReport& report = trace.report;
  const std::vector<std::string> said = profiler_reports(trace);
  if (report.empty() && said.empty() && doubts.empty()) {
    fmt::format_to(out, "\nNothing odd about this file.\n");
    return;
  }
  const bool any_written = std::any_of(doubts.begin(), doubts.end(), is_of_writing);
  if (report.empty() && said.empty() && !any_written) return;
  fmt::format_to(out, "\nodd about this file\n");
  for (const Doubt& doubt : doubts)
    if (is_of_writing(doubt)) fmt::format_to(out, "  {}\n", doubt.said);
  for (const std::string& sentence : said) fmt::format_to(out, "  {}\n", sentence);
  for (const ImportIssueEntry& entry : report.entries()) {
    fmt::format_to(out, "  {}\n", printable(import_issue_sentence(entry)));
    for (const ImportIssueExample& example : entry.first) add_example(out, example);
  }
}

}  // namespace

std::string info_text(const Document& doc) {
  const Trust trust = trust_of(doc.session);
  std::string text = trust_text(trust);
  if (!text.empty()) text += "\n\n";
  const Out out = std::back_inserter(text);
  add_summary(out, doc);
  const std::vector<DeviceProperties>& devices = doc.trace.header.devices;
  for (const Vendor vendor = vendor_of(doc.trace);
       const DeviceProperties& d : std::span(devices).first(std::min(devices.size(), kMostDevices)))
    add_device(out, vendor, d);
  if (devices.size() > kMostDevices) add_row(out, "", fmt::format("and {} more devices", count(devices.size() - kMostDevices)));
  if (const std::uint64_t samples = cpu_samples_of_export(doc.trace); samples > 0)
    add_row(out, "samples",
            fmt::format("{} of the CPU: a lane for each thread, with the functions that it was in", count(samples)));
  add_lanes(out, doc.trace);
  add_report(out, doc.trace, trust.doubts);
  return text;
}

}  // namespace gapscope
