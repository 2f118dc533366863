#include "core/analyze/captured/captures.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "core/analyze/gpu/launches.h"
#include "core/analyze/inference/serving_step.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

// A call's part in capturing: node_letter() of the node that it makes, '<' and '>' around a capture, ' ' for others.
char part_of(std::string_view name) {
  if (name.find("StreamBeginCapture") != std::string_view::npos) return '<';
  if (name.find("StreamEndCapture") != std::string_view::npos) return '>';
  if (is_kernel_launch_name(name)) return 'k';
  const bool is_async = name.find("Async") != std::string_view::npos;
  if (is_async && name.find("Memcpy") != std::string_view::npos) return 'c';
  if (is_async && name.find("Memset") != std::string_view::npos) return 's';
  return ' ';
}

struct CapturingCall {
  SliceId call;
  char part;
};

bool begins_capture(const Trace& trace) {
  for (std::size_t s = 0; s < trace.strings.size(); ++s)
    if (part_of(trace.strings[StringId(s)]) == '<') return true;
  return false;
}

// Empty where the trace begins no capture.
std::vector<CapturingCall> capturing_calls(const Trace& trace) {
  if (!begins_capture(trace)) return {};
  std::unordered_map<std::uint32_t, char> known;
  bool any = false;
  for (const Call& call : trace.calls) {
    const auto [part, is_new] = known.try_emplace(trace.name_id(call.slice).value, ' ');
    if (is_new) part->second = part_of(trace.name(call.slice));
    any = any || part->second == '<';
  }
  std::vector<CapturingCall> calls;
  if (!any) return calls;
  std::unordered_set<std::uint64_t> started;
  for (const GpuRow& row : trace.gpu) started.insert(row.correlation);
  for (const Call& call : trace.calls) {
    const char part = known.at(trace.name_id(call.slice).value);
    const bool makes_node = part != ' ' && part != '<' && part != '>';
    if (part != ' ' && !(makes_node && started.contains(call.correlation))) calls.push_back({call.slice, part});
  }
  std::stable_sort(calls.begin(), calls.end(),
                   [&](const CapturingCall& a, const CapturingCall& b) { return trace.begin(a.call) < trace.begin(b.call); });
  return calls;
}

bool owns(const Trace& trace, SliceId slice) { return trace.kind(slice) == Kind::op || trace.kind(slice) == Kind::annotation; }

std::int64_t size_of(const Trace& trace, SliceId begin) {
  std::int64_t size = 0;
  for (const SliceId slice : slices_around(trace, begin))
    if (const std::int64_t stated = owns(trace, slice) ? captured_size(trace.name(slice)) : 0) size = stated;
  return size;
}

}  // namespace

char node_letter(Kind kind) { return kind == Kind::memcpy ? 'c' : kind == Kind::memset ? 's' : 'k'; }

bool is_graph_launch_name(std::string_view name) { return name.find("GraphLaunch") != std::string_view::npos; }

std::vector<SliceId> slices_around(const Trace& trace, SliceId call) {
  std::vector<SliceId> found;
  const LaneId lane = trace.lane_id(call);
  const Ns t = trace.begin(call);
  const auto& begins = trace.slices.begin;
  for (std::uint32_t depth = 0; depth < trace.lane(lane).depth_count; ++depth) {
    const Row& row = trace.row(trace.row_id(lane, depth));
    const auto first = begins.begin() + row.first;
    const auto after = std::upper_bound(first, first + row.count, t);
    if (after == first) continue;
    const SliceId slice(static_cast<std::size_t>(after - begins.begin()) - 1);
    if (slice != call && t < trace.end(slice)) found.push_back(slice);
  }
  return found;
}

std::vector<Capture> captures_of(const Trace& trace, const ReadNodeArgs& read) {
  std::vector<Capture> captures;
  std::optional<LaneId> capturing;
  for (const auto& [call, part] : capturing_calls(trace)) {
    if (part == '<') {
      if (capturing) continue;
      capturing = trace.lane_id(call);
      captures.push_back({call, {}, {}, size_of(trace, call), {}});
    } else if (part == '>') {
      if (capturing && *capturing == trace.lane_id(call)) capturing.reset();
    } else if (capturing) {
      captures.back().calls.push_back(call);
      captures.back().kinds += part;
    }
  }
  std::erase_if(captures, [](const Capture& capture) { return capture.calls.empty(); });
  for (Capture& capture : captures) {
    if (read) capture.args = read(trace, capture.calls);
    capture.args.resize(capture.calls.size());
  }
  return captures;
}

CaptureRecording capture_recording(const Trace& trace) {
  CaptureRecording out;
  for (const Capture& capture : captures_of(trace)) {
    ++out.captures;
    out.calls += capture.calls.size();
  }
  if (out.captures == 0) return out;
  for (const GpuRow& row : trace.gpu) out.gpu_work += is_gpu_work(trace.kind(row.slice)) ? 1 : 0;
  return out;
}

std::string capture_words(const CaptureRecording& r) {
  const auto count = [](std::size_t n) { return format_count(static_cast<std::int64_t>(n)); };
  return fmt::format("a recording of a graph capture: {} {} made nodes of {} {}, and {} {} of work ran on the GPU",
                     count(r.calls), r.calls == 1 ? "launch" : "launches", count(r.captures),
                     r.captures == 1 ? "graph" : "graphs", r.gpu_work == 0 ? "no" : count(r.gpu_work),
                     r.gpu_work == 1 ? "piece" : "pieces");
}

std::vector<SliceId> operators_of_calls(const Trace& trace, const std::vector<SliceId>& calls) {
  std::unordered_map<std::uint64_t, SliceId> by_id;
  for (const SliceId call : calls)
    if (const std::uint64_t id = trace.slices.external_id[call.index()]; id != 0) by_id.emplace(id, SliceId{});
  for (std::size_t s = 0; !by_id.empty() && s < trace.slice_count(); ++s) {
    const std::uint64_t id = trace.slices.external_id[s];
    if (id == 0 || !owns(trace, SliceId(s))) continue;
    const auto known = by_id.find(id);
    if (known == by_id.end()) continue;
    if (!known->second || trace.begin(SliceId(s)) < trace.begin(known->second)) known->second = SliceId(s);
  }
  std::vector<SliceId> operators;
  for (const SliceId call : calls) {
    const auto known = by_id.find(trace.slices.external_id[call.index()]);
    SliceId op = known != by_id.end() ? known->second : SliceId{};
    if (!op)
      for (const SliceId slice : slices_around(trace, call))
        if (owns(trace, slice)) op = slice;
    operators.push_back(op);
  }
  return operators;
}

}  // namespace gapscope
