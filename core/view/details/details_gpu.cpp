#include "core/view/details/details_gpu.h"

#include <fmt/format.h>

#include <array>
#include <initializer_list>

#include "core/analyze/captured/captured_work.h"
#include "core/analyze/gpu/occupancy.h"
#include "core/analyze/kernel_name/shown_name.h"
#include "core/base/text.h"
#include "core/view/details/details_sections.h"
#include "core/view/document.h"

namespace gapscope {
namespace {

constexpr std::size_t kMostHoverChars = 90;  // of one value in a hover

std::string dim3_text(const std::array<std::uint32_t, 3>& d) {
  return format_count(d[0]) + " x " + format_count(d[1]) + " x " + format_count(d[2]);
}

std::uint64_t product(const std::array<std::uint32_t, 3>& d) { return std::uint64_t{d[0]} * d[1] * d[2]; }

DetailsLine number_or_absent(std::string key, std::int64_t value, bool present) {
  return present ? number_line(std::move(key), format_count(value)) : absent_line(std::move(key));
}

DetailsLine figure_or_absent(std::string key, float value) {
  return value >= 0 ? number_line(std::move(key), format_significant(value)) : absent_line(std::move(key));
}

DetailsLine shared_memory_line(const GpuRow& row) {
  // 0 is a real answer where the file states the kernel's other resources, and no answer where it states none.
  const bool stated = row.shared_memory > 0 || row.registers > 0 || row.has_launch_config();
  if (!stated) return absent_line("shared memory");
  return number_line("shared memory", format_shared_memory(row.shared_memory),
                     format_count(row.shared_memory) + " bytes, static and dynamic");
}

void add_launch_shape(const GpuRow& row, std::vector<DetailsLine>& out) {
  if (!row.has_launch_config()) {
    out.push_back(absent_line("grid"));
    out.push_back(absent_line("block"));
    return;
  }
  out.push_back(number_line("grid", dim3_text(row.grid),
                            format_count(static_cast<std::int64_t>(product(row.grid))) + " blocks, in x, y and z"));
  out.push_back(number_line("block", dim3_text(row.block),
                            format_count(static_cast<std::int64_t>(product(row.block))) + " threads, in x, y and z"));
}

std::string device_text(const Document& doc, std::int32_t device) {
  const DeviceProperties* properties = doc.trace.device(device);
  const std::string number = std::to_string(device);
  return properties && !properties->name.empty() ? number + " - " + properties->name : number;
}

// How long after its call the work began: the queue's share of the delay that a person sees.
DetailsLine launch_delay(const Document& doc, SliceId call, SliceId work) {
  const Ns delay = doc.trace.begin(work) - doc.trace.begin(call);
  if (delay < 0)
    return text_line("call to start", "begins before its call",
                     "The clocks of CPU and GPU disagree by at least " + format_duration_exact(-delay) + ".");
  return number_line("call to start", format_duration(delay), format_duration_exact(delay));
}

DetailsSection launched_summary(const Document& doc, std::span<const SliceId> work) {
  Ns total = 0;
  for (const SliceId s : work) total += doc.trace.duration(s);
  DetailsSection section{"Launched", {}, {}};
  section.lines.push_back(number_line("GPU work", format_count(static_cast<std::int64_t>(work.size()))));
  section.lines.push_back(number_line("GPU time", format_duration(total), format_duration_exact(total)));
  return section;
}

}  // namespace

DetailsLine text_line(std::string key, std::string value, std::string hover) {
  return {std::move(key), std::move(value), std::move(hover), {}, DetailsLine::Look::text};
}

DetailsLine number_line(std::string key, std::string value, std::string hover) {
  return {std::move(key), std::move(value), std::move(hover), {}, DetailsLine::Look::number};
}

DetailsLine absent_line(std::string key) { return {std::move(key), "not recorded", {}, {}, DetailsLine::Look::absent}; }

DetailsLine slice_line(const Document& doc, std::string key, SliceId target) {
  if (!target) return absent_line(std::move(key));
  return {std::move(key), shown_name(doc.trace, target), {}, target, DetailsLine::Look::text};
}

std::string value_text(const Document&, std::integral auto value) { return std::to_string(value); }
std::string value_text(const Document&, float value) { return format_significant(value); }
std::string value_text(const Document&, const Dim3& value) { return dim3_text(value); }
std::string value_text(const Document& doc, StringId value) { return std::string(doc.trace.strings[value]); }

// What the lists of core/trace/arg_columns.h show as lines of their own.
#define GAPSCOPE_ADD(field, type, absent, key, often, packing, shown) \
  if (Shown::shown == Shown::line && row.field != nothing.field) out.push_back(number_line(key, value_text(doc, row.field)));
enum class Shown : std::uint8_t { apart, line };
std::vector<DetailsLine> other_args(const Document& doc, const GpuRow& row) {
  const GpuRow nothing;
  std::vector<DetailsLine> out;
  GAPSCOPE_GPU_ARGS(GAPSCOPE_ADD)
  return out;
}
std::vector<DetailsLine> other_args(const Document& doc, const OpRow& row) {
  const OpRow nothing;
  std::vector<DetailsLine> out;
  GAPSCOPE_OP_ARGS(GAPSCOPE_ADD)
  return out;
}
#undef GAPSCOPE_ADD

DetailsSection kernel_resources(const Document& doc, const GpuRow& row) {
  DetailsSection section{"Resources", {}, {}};
  auto& lines = section.lines;
  lines.push_back(number_or_absent("registers per thread", row.registers, row.registers > 0));
  lines.push_back(shared_memory_line(row));
  add_launch_shape(row, lines);
  lines.push_back(occupancy_line(doc, row));
  lines.push_back(figure_or_absent("blocks per SM", row.blocks_per_sm));
  lines.push_back(figure_or_absent("warps per SM", row.warps_per_sm));
  if (row.has_launch_config())
    lines.push_back(number_line("threads per block", format_count(static_cast<std::int64_t>(product(row.block)))));
  for (DetailsLine& line : other_args(doc, row)) lines.push_back(std::move(line));
  return section;
}

DetailsSection copy_figures(const Document& doc, const GpuRow& row) {
  DetailsSection section{doc.trace.kind(row.slice) == Kind::memset ? "Memset" : "Copy", {}, {}};
  const Ns duration = doc.trace.duration(row.slice);
  if (row.bytes == 0) {
    section.lines.push_back(absent_line("bytes"));
  } else {
    section.lines.push_back(
        number_line("bytes", format_bytes(row.bytes), format_count(static_cast<std::int64_t>(row.bytes)) + " bytes"));
  }
  if (row.bytes == 0 || duration == 0) {
    section.lines.push_back(absent_line("bandwidth"));
  } else {  // bytes a nanosecond are gigabytes a second
    section.lines.push_back(
        number_line("bandwidth", format_significant(static_cast<double>(row.bytes) / static_cast<double>(duration)) + " GB/s",
                    "bytes divided by duration; 1 GB is 1,000,000,000 bytes"));
  }
  for (DetailsLine& line : other_args(doc, row)) section.lines.push_back(std::move(line));
  return section;
}

DetailsSection operator_args(const Document& doc, SliceId slice) {
  DetailsSection section{"Operator", {}, {}};
  if (const OpRow* row = doc.trace.op_row(slice)) section.lines = other_args(doc, *row);
  return section;
}

DetailsSection gpu_place(const Document& doc, const GpuRow& row) {
  DetailsSection section{"GPU", {}, {}};
  auto& lines = section.lines;
  lines.push_back(row.device < 0 ? absent_line("device") : text_line("device", device_text(doc, row.device)));
  lines.push_back(number_or_absent("context", row.context, row.context >= 0));
  lines.push_back(number_or_absent("stream", row.stream, row.stream >= 0));
  lines.push_back(row.correlation == 0 ? absent_line("correlation")
                                       : number_line("correlation", std::to_string(row.correlation)));
  if (row.graph_id != 0) lines.push_back(number_line("CUDA graph", std::to_string(row.graph_id)));
  if (row.graph_node_id != 0) lines.push_back(number_line("graph node", std::to_string(row.graph_node_id)));
  return section;
}

namespace {

// Who captured work of a graph: in this recording, or in another one that is joined with it.
void add_capture(const Document& doc, const OperatorCall& by, std::vector<DetailsLine>& lines) {
  const Trace& recording = *by.trace;
  const bool here = &recording == &doc.trace;
  const std::string joined =
      here ? "Joined: captured in this recording." : "Joined: captured in " + printable(recording.path) + ".";
  const auto add = [&](const char* key, std::string_view value) {
    if (!value.empty()) lines.push_back(text_line(key, printable(value), joined));
  };
  const auto add_slice = [&](const char* key, SliceId slice) {
    if (!slice) return;
    if (here)
      lines.push_back(slice_line(doc, key, slice));
    else
      add(key, recording.name(slice));
  };
  add_slice("captured by", by.call);
  add_slice("operator (joined)", by.op);
  if (const OpRow* op = by ? recording.op_row(by.op) : nullptr; op != nullptr && op->input_dims)
    add("shapes (joined)", recording.strings[op->input_dims]);
  const CallPlace place = place_of_call(recording, by.call);
  add("modules (joined)", place.module);
  add("Python (joined)", place.python);
  if (!here) add("captured in", recording.path);
}

}  // namespace

DetailsSection waited_for(const Document& doc, SliceId call) {
  DetailsSection section{"Waited", {}, {}};
  const Span wait = doc.trace.span_of(call);
  SliceId last;
  for (std::size_t l = 0; l < doc.trace.lanes.size(); ++l) {
    const Lane& lane = doc.trace.lanes[l];
    for (std::uint32_t depth = 0; lane.kind == LaneKind::gpu_stream && depth < lane.depth_count; ++depth) {
      SliceId at = doc.lanes.last_begin_at_or_before(doc.trace.row_id(LaneId(l), depth), wait.end);
      while (at && !is_gpu_work(doc.trace.kind(at))) at = doc.lanes.previous_in_row(at);
      if (at && doc.trace.end(at) > wait.begin && doc.trace.end(at) <= wait.end &&
          (!last || doc.trace.end(at) > doc.trace.end(last)))
        last = at;
    }
  }
  if (!last) {
    section.lines.push_back(text_line("for", "no GPU work ends in it"));
    return section;
  }
  section.lines.push_back(slice_line(doc, "last work to end in it", last));
  section.lines.push_back(number_line("after that work ended", format_duration(wait.end - doc.trace.end(last)),
                                      "from the end of that work to the call's return"));
  return section;
}

DetailsSection launched_from(const Document& doc, const GpuRow& row) {
  DetailsSection section{"Launched by", {}, {}};
  const SliceId call = doc.links.call_of(row.slice);
  section.lines.push_back(slice_line(doc, "call", call));
  const OperatorCall by = operator_call(doc.trace, doc.links, row);
  if (!by.joined) section.lines.push_back(slice_line(doc, "operator", by.op));
  add_source_lines(doc, call, section.lines);
  if (call) section.lines.push_back(launch_delay(doc, call, row.slice));
  if (by.joined) add_capture(doc, by, section.lines);
  return section;
}

DetailsSection launched_work(const Document& doc, SliceId call) {
  const std::span<const SliceId> work = doc.links.launched_by(call);
  if (work.empty()) return {};
  DetailsSection section = launched_summary(doc, work);
  for (const SliceId s : work.first(std::min(work.size(), kDetailsMaxLaunched)))
    section.lines.push_back(slice_line(doc, std::string(kind_name(doc.trace.kind(s))), s));
  if (work.size() > kDetailsMaxLaunched)
    section.lines.push_back(
        text_line("", "and " + format_count(static_cast<std::int64_t>(work.size() - kDetailsMaxLaunched)) + " more"));
  return section;
}

std::vector<std::string> hover_lines(const Document& doc, SliceId work) {
  const GpuRow* row = doc.trace.gpu_row(work);
  if (!row) return {};
  const bool is_kernel = doc.trace.kind(work) == Kind::kernel;
  const DetailsSection from = launched_from(doc, *row), of = is_kernel ? kernel_resources(doc, *row) : DetailsSection{};
  // Empty where the section has neither key, or the file does not state it.
  const auto value = [](const DetailsSection& section, std::string_view key, std::string_view or_key = {}) {
    for (const DetailsLine& line : section.lines)
      if ((line.key == key || line.key == or_key) && line.look != DetailsLine::Look::absent)
        return elide_middle(printable(line.value), kMostHoverChars);
    return std::string();
  };
  std::vector<std::string> lines;
  const auto add = [&](std::initializer_list<std::array<std::string, 3>> parts) {  // before, value, after
    std::string line;
    for (const auto& [before, text, after] : parts)
      if (!text.empty()) line += (line.empty() ? "" : ", ") + before + text + after;
    if (!line.empty()) lines.push_back(std::move(line));
  };
  add({{"", value(from, "operator", "operator (joined)"), ""}, {"in ", value(from, "module", "modules (joined)"), ""}});
  add({{"", value(from, "Python line", "Python (joined)"), ""}});
  add({{"grid ", value(of, "grid"), ""}, {"block ", value(of, "block"), ""}});
  add({{"", value(of, "registers per thread"), " registers per thread"}, {"", value(of, "shared memory"), " shared memory"}});
  add({{"occupancy: ", value(of, "occupancy"), ""}});
  return lines;
}

}  // namespace gapscope
