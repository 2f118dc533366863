#include "core/trace/lane_titles.h"

#include <algorithm>
#include <charconv>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace gapscope {
namespace {

constexpr std::uint32_t bit(Kind kind) { return std::uint32_t{1} << static_cast<unsigned>(kind); }

bool as_number(std::string_view text, std::int64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty();
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  return text;
}

// Numbers before texts, small before large: the order of equal sort indexes.
auto natural_key(const std::string& key) {
  std::int64_t number = 0;
  const bool is_number = as_number(key, number);
  return std::tuple(!is_number, is_number ? number : 0, is_number ? std::string_view{} : std::string_view(key));
}

int lane_rank(LaneKind kind) {
  switch (kind) {
    case LaneKind::cpu_thread: return 0;
    case LaneKind::gpu_stream: return 1;
    case LaneKind::overhead: return 2;
    case LaneKind::other: return 3;
    case LaneKind::profiler: return 4;
  }
  return 5;
}

std::string stream_title(const LaneDraft& lane, std::int32_t device) {
  std::string_view name = trimmed(lane.name);
  std::string stream;
  std::int64_t number = 0;
  if (!name.empty())
    stream = name;
  else if (as_number(lane.key, number))
    stream = number < 0 ? "context" : "stream " + lane.key;
  else
    stream = trimmed(lane.key);
  return device >= 0 ? fmt::format("GPU {} {}", device, stream) : stream;
}

std::string lane_title(const LaneDraft& lane, LaneKind kind, std::int32_t device) {
  if (kind == LaneKind::gpu_stream) return stream_title(lane, device);
  const std::string_view name = trimmed(lane.name);
  if (lane.is_async) return std::string(trimmed(lane.key));
  if (kind == LaneKind::overhead) return "profiler overhead";
  if (!name.empty()) {
    std::int64_t ignored = 0;
    // A bare name ("python3") gets its number; Kineto's "thread 415 (python3)" has it already.
    const bool has_number = name.find(lane.key) != std::string_view::npos || !as_number(lane.key, ignored);
    return has_number ? std::string(name) : fmt::format("thread {} ({})", lane.key, name);
  }
  std::int64_t ignored = 0;
  return as_number(lane.key, ignored) ? "thread " + lane.key : lane.key.empty() ? "events" : lane.key;
}

// Of counters alone, as `gapscope record --counters-only` writes them: its number is its pid.
bool is_labelled_gpu(const ProcessDraft& draft) { return !draft.key.empty() && trimmed(draft.labels) == "GPU " + draft.key; }

std::string process_title(const ProcessDraft& draft, bool is_gpu, std::int32_t device, LaneKind first,
                          const std::unordered_map<std::int64_t, std::string_view>& device_names) {
  if (first == LaneKind::overhead) return "Profiler overhead";
  if (first == LaneKind::profiler) return "Profiler";
  if (is_gpu) {
    const std::string gpu = device >= 0 ? fmt::format("GPU {}", device) : "GPU " + draft.key;
    const auto at = device_names.find(device);
    return at == device_names.end() || at->second.empty() ? gpu : fmt::format("{} \xC2\xB7 {}", gpu, at->second);
  }
  const std::string_view name = trimmed(draft.name);
  if (name.empty()) return draft.key.empty() ? "Process" : "Process " + draft.key;
  return name == draft.key ? std::string(name) : fmt::format("{} {}", name, draft.key);
}

}  // namespace

LaneKind lane_kind_from_slices(std::uint32_t kinds) {
  constexpr std::uint32_t kGpu =
      bit(Kind::kernel) | bit(Kind::memcpy) | bit(Kind::memset) | bit(Kind::sync) | bit(Kind::gpu_annotation);
  constexpr std::uint32_t kCpu =
      bit(Kind::op) | bit(Kind::annotation) | bit(Kind::python) | bit(Kind::runtime) | bit(Kind::driver);
  if (kinds & kGpu) return LaneKind::gpu_stream;
  if (kinds & kCpu) return LaneKind::cpu_thread;
  if (kinds & bit(Kind::overhead)) return LaneKind::overhead;
  if (kinds & bit(Kind::profiler)) return LaneKind::profiler;
  return LaneKind::other;
}

LaneOrder order_lanes(const std::vector<ProcessDraft>& processes, const std::vector<LaneDraft>& lanes,
                      const std::vector<bool>& process_has_counters, const std::vector<DeviceProperties>& devices) {
  struct ProcessFacts {
    int rank = 9;
    bool kept = false;
    bool is_gpu = false;
    LaneKind first = LaneKind::other;
    std::int64_t sort_index = 0;
  };
  std::vector<ProcessFacts> facts(processes.size());
  for (std::size_t p = 0; p < processes.size(); ++p) {
    std::int64_t number = 0;
    facts[p].kept = process_has_counters[p];
    facts[p].rank = process_has_counters[p] ? lane_rank(LaneKind::other) : 9;
    facts[p].is_gpu = process_has_counters[p] && is_labelled_gpu(processes[p]);
    facts[p].sort_index = processes[p].has_sort_index           ? processes[p].sort_index
                          : as_number(processes[p].key, number) ? number
                                                                : 0;
  }
  std::vector<LaneKind> kinds(lanes.size());
  for (std::size_t l = 0; l < lanes.size(); ++l) {
    kinds[l] = lane_kind_from_slices(lanes[l].kinds);
    if (!lanes[l].has_content) continue;
    ProcessFacts& f = facts[lanes[l].process];
    f.kept = true;
    // A process with a GPU stream is a GPU, though a stray Python thread of some writers carries its number too.
    const int rank = kinds[l] == LaneKind::gpu_stream ? -1 : lane_rank(kinds[l]);
    f.is_gpu = f.is_gpu || kinds[l] == LaneKind::gpu_stream;
    if (rank < f.rank) {
      f.rank = rank;
      f.first = kinds[l];
    }
  }
  for (ProcessFacts& f : facts) f.rank = f.is_gpu ? lane_rank(LaneKind::gpu_stream) : f.rank;

  LaneOrder out;
  std::unordered_map<std::int64_t, std::string_view> device_names;
  for (const DeviceProperties& device : devices) device_names.emplace(device.id, device.name);
  std::vector<std::uint32_t> process_order;
  for (std::uint32_t p = 0; p < processes.size(); ++p) {
    if (facts[p].kept) process_order.push_back(p);
  }
  std::stable_sort(process_order.begin(), process_order.end(), [&](std::uint32_t a, std::uint32_t b) {
    // The key itself comes last: 7 and 07 are two processes, and their order must not depend on which was met first.
    return std::tuple(facts[a].rank, facts[a].sort_index, natural_key(processes[a].key), std::string_view(processes[a].key)) <
           std::tuple(facts[b].rank, facts[b].sort_index, natural_key(processes[b].key), std::string_view(processes[b].key));
  });
  out.process_of_draft.resize(processes.size());
  for (const std::uint32_t p : process_order) {
    out.process_of_draft[p] = ProcessId(out.processes.size());
    Process process;
    process.key = processes[p].key;
    process.name = processes[p].name;
    process.labels = processes[p].labels;
    process.sort_index = facts[p].sort_index;
    process.is_gpu = facts[p].is_gpu;
    std::int64_t number = 0;
    if (process.is_gpu && as_number(process.key, number) && number >= 0 && std::in_range<std::int32_t>(number))
      process.device = static_cast<std::int32_t>(number);
    if (process.is_gpu && processes[p].device >= 0) process.device = processes[p].device;
    process.rank = processes[p].rank;
    process.title = process_title(processes[p], process.is_gpu, process.device, facts[p].first, device_names);
    if (process.rank >= 0) process.title += fmt::format(" \xC2\xB7 rank {}", process.rank);
    out.processes.push_back(std::move(process));
  }

  std::vector<std::uint32_t> lane_order;
  for (std::uint32_t l = 0; l < lanes.size(); ++l) {
    if (lanes[l].has_content) lane_order.push_back(l);
  }
  const auto lane_key = [&](std::uint32_t l) {
    std::int64_t number = 0;
    const LaneDraft& d = lanes[l];
    const std::int64_t sort = d.has_sort_index ? d.sort_index : as_number(d.key, number) ? number : 0;
    return std::tuple(out.process_of_draft[d.process], lane_rank(kinds[l]), d.is_async, sort, natural_key(d.key),
                      std::string_view(d.name), std::string_view(d.key));
  };
  std::stable_sort(lane_order.begin(), lane_order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return lane_key(a) < lane_key(b); });
  out.lane_of_draft.resize(lanes.size());
  for (const std::uint32_t l : lane_order) {
    out.lane_of_draft[l] = LaneId(out.lanes.size());
    Lane lane;
    lane.process = out.process_of_draft[lanes[l].process];
    lane.key = lanes[l].key;
    lane.name = lanes[l].name;
    lane.sort_index = lanes[l].sort_index;
    lane.kind = kinds[l];
    lane.is_async = lanes[l].is_async;
    lane.title = lane_title(lanes[l], kinds[l], out.processes[lane.process.index()].device);
    out.lanes.push_back(std::move(lane));
  }
  return out;
}

}  // namespace gapscope
