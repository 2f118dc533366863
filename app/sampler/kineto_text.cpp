#include "app/sampler/kineto_text.h"

#include <algorithm>
#include <array>
#include <string>

#include "app/sampler/call_names.h"
#include "app/sampler/event_text.h"
#include "core/analyze/gpu/occupancy.h"

namespace gapscope::sampler {
namespace {

constexpr Ns kBasePeriod = 7'889'238'000'000'000;

// {"ph": "X", "cat": ..., "name": ..., "pid": ..., "tid": ..., "ts": ..., "dur": ...   and no brace at the end
void open_slice(std::string& out, const TraceInfo& info, std::string_view category, std::string_view name, std::int64_t pid,
                std::int64_t tid, const Times& times) {
  out += "{\"ph\": \"X\", \"cat\": \"";
  out += category;
  out += "\", \"name\": ";
  append_json_string(out, name);
  append_field(out, "pid", pid);
  append_field(out, "tid", tid);
  append_key(out, "ts");
  append_us(out, minus(times.begin, info.base));
  append_key(out, "dur");
  append_us(out, minus(times.end, times.begin));
}

void append_flow(std::string& out, const TraceInfo& info, char phase, std::uint32_t id, std::int64_t pid, std::int64_t tid,
                 Ns time) {
  out += "{\"ph\": \"";
  out += phase;
  out += "\", \"id\": ";
  append_int(out, id);
  append_field(out, "pid", pid);
  append_field(out, "tid", tid);
  append_key(out, "ts");
  append_us(out, minus(time, info.base));
  out += ", \"cat\": \"ac2g\", \"name\": \"ac2g\"";
  out += phase == 'f' ? ", \"bp\": \"e\"}" : "}";
}

void append_place(std::string& out, const GpuPlace& place) {
  append_field(out, "device", place.device);
  append_field(out, "context", place.context);
  append_field(out, "stream", place.stream);
  append_field(out, "correlation", place.correlation);
}

void append_graph(std::string& out, const GpuPlace& place) {
  if (place.graph_id == 0) return;
  append_field(out, "graph id", place.graph_id);
  append_field(out, "graph node id", place.graph_node_id);
}

// Closes a slice of GPU work and lets the arrow of its launch end there.
void close_gpu_slice(std::string& out, const TraceInfo& info, const GpuPlace& place, Ns begin, std::int64_t lane) {
  out += "}}";
  if (place.correlation == 0) return;
  out += kNextEvent;
  append_flow(out, info, 'f', place.correlation, place.device, lane, begin);
}

void append_list(std::string& out, std::string_view key, const std::array<std::int32_t, 3>& list) {
  append_key(out, key);
  out += '[';
  for (std::size_t i = 0; i < 3; ++i) {
    if (i > 0) out += ", ";
    append_int(out, list[i]);
  }
  out += ']';
}

const Device* device_of(const TraceInfo& info, std::int32_t id) {
  const auto at = std::find_if(info.devices.begin(), info.devices.end(), [&](const Device& d) { return d.id == id; });
  return at == info.devices.end() ? nullptr : &*at;
}

// Of a grid or block: none is negative, and none that runs is larger than 64 bits hold.
std::int64_t product(const std::array<std::int32_t, 3>& list) {
  constexpr std::int64_t kMost = std::int64_t{1} << 62;
  std::int64_t result = 1;
  for (const std::int32_t n : list)
    if (__builtin_mul_overflow(result, std::int64_t{std::max(n, 0)}, &result) || result > kMost) return kMost;
  return result;
}

gapscope::SmLimits limits_of(const Device& d) {
  return {d.major, d.minor, d.threads_per_sm, d.registers_per_sm, d.shared_per_sm, d.shared_per_block, d.sms};
}

void append_occupancy(std::string& out, const Device* device, const Kernel& kernel) {
  if (!device || device->sms <= 0) return;
  const auto threads = product(kernel.block);
  const float blocks_per_sm = static_cast<float>(product(kernel.grid)) / static_cast<float>(device->sms);
  append_key(out, "blocks per SM");
  append_float(out, blocks_per_sm);
  append_key(out, "warps per SM");
  append_float(out, blocks_per_sm * static_cast<float>(threads) / 32.0f);
  // Kineto states 0 for every block with more than 48 KB of shared memory; this is what runs.
  const std::optional<int> percent = gapscope::achieved_percent(
      limits_of(*device), {threads, kernel.registers, std::int64_t{kernel.static_shared} + kernel.dynamic_shared},
      static_cast<std::uint64_t>(product(kernel.grid)), gapscope::OccupancyRule::true_value);
  if (percent) append_field(out, "est. achieved occupancy %", *percent);
}

constexpr std::array<std::string_view, 11> kCopyKinds = {"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                                         "AtoD",    "DtoA", "DtoD", "HtoH", "PtoP"};
constexpr std::array<std::string_view, 8> kMemoryKinds = {"Unknown", "Pageable", "Pinned",        "Device",
                                                          "Array",   "Managed",  "Device Static", "Managed Static"};
constexpr std::array<std::string_view, 5> kSyncKinds = {"Unknown", "Event Sync", "Stream Wait Event", "Stream Sync",
                                                        "Context Sync"};
constexpr std::array<std::string_view, 9> kOverheadKinds = {"Unknown",
                                                            "Buffer Flush",
                                                            "Instrumentation",
                                                            "Resource",
                                                            "Runtime Triggered Module Loading",
                                                            "Lazy Function Loading",
                                                            "Command Buffer Full",
                                                            "Activity Buffer Request",
                                                            "UVM Activity Init"};

template <std::size_t N>
std::string_view word(const std::array<std::string_view, N>& words, std::size_t at) {
  return words[at < N ? at : 0];
}

std::string_view overhead_name(std::uint32_t kind) { return kind == 1 ? "Driver Compiler" : word(kOverheadKinds, kind >> 16); }

void append_bytes(std::string& out, std::uint64_t bytes, const Times& times) {
  append_field(out, "bytes", bytes);
  if (times.end <= times.begin) return;
  append_key(out, "memory bandwidth (GB/s)");
  append_float(out, static_cast<float>(static_cast<double>(bytes) / static_cast<double>(minus(times.end, times.begin))));
}

// {"name": ..., "ph": "M", "ts": 0.000, "pid": P, "tid": T, "args": {"KEY": VALUE}}; the value is appended by the caller's
// text.
void append_meta(std::string& out, std::string_view what, std::string_view pid, std::string_view tid, std::string_view key,
                 std::string_view value) {
  out.append("{\"name\": \"").append(what).append("\", \"ph\": \"M\", \"ts\": 0.000, \"pid\": ").append(pid);
  out.append(", \"tid\": ").append(tid).append(", \"args\": {\"").append(key).append("\": ").append(value).append("}}");
}

std::string quoted(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

void append_process(std::string& out, std::string_view pid, std::string_view name, std::string_view labels, std::int64_t sort) {
  append_meta(out, "process_name", pid, "0", "name", quoted(name));
  out += kNextEvent;
  append_meta(out, "process_labels", pid, "0", "labels", quoted(labels));
  out += kNextEvent;
  append_meta(out, "process_sort_index", pid, "0", "sort_index", std::to_string(sort));
}

void append_lane(std::string& out, std::string_view pid, std::string_view tid, std::string_view name, std::int64_t sort) {
  append_meta(out, "thread_name", pid, tid, "name", quoted(name));
  out += kNextEvent;
  append_meta(out, "thread_sort_index", pid, tid, "sort_index", std::to_string(sort));
}

void append_device(std::string& out, const Device& d) {
  out += "    {\"id\": ";
  append_int(out, d.id);
  append_key(out, "name");
  append_json_string(out, d.name);
  append_field(out, "totalGlobalMem", d.memory);
  append_field(out, "computeMajor", d.major);
  append_field(out, "computeMinor", d.minor);
  append_field(out, "maxThreadsPerBlock", d.threads_per_block);
  append_field(out, "maxThreadsPerMultiprocessor", d.threads_per_sm);
  append_field(out, "regsPerBlock", d.registers_per_block);
  append_field(out, "warpSize", d.warp);
  append_field(out, "sharedMemPerBlock", d.shared_per_block);
  append_field(out, "numSms", d.sms);
  append_field(out, "regsPerMultiprocessor", d.registers_per_sm);
  append_field(out, "sharedMemPerBlockOptin", d.shared_per_block_optin);
  append_field(out, "sharedMemPerMultiprocessor", d.shared_per_sm);
  if (d.memory_khz > 0 && d.memory_bus_bits > 0) {
    append_field(out, "memoryClockRate", d.memory_khz);
    append_field(out, "memoryBusWidth", d.memory_bus_bits);
  }
  if (d.clock_khz > 0) append_field(out, "clockRate", d.clock_khz);
  out += '}';
}

// As PyTorch's: only these two are known here.
void append_place_in_job(std::string& out, const TraceInfo& info) {
  if (info.rank < 0) return;
  out += ",\n  \"distributedInfo\": {\"rank\": ";
  append_int(out, info.rank);
  if (info.world_size > 0) append_field(out, "world_size", info.world_size);
  out += '}';
}

}  // namespace

Ns base_time(Ns now) { return now / kBasePeriod * kBasePeriod; }

void append_head(std::string& out, const TraceInfo& info) {
  out += "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n";
  for (std::size_t i = 0; i < info.devices.size(); ++i) {
    if (i > 0) out += ",\n";
    append_device(out, info.devices[i]);
  }
  out += "\n  ],\n  \"recorder\": \"gapscope\",\n  \"command\": ";
  append_json_string(out, info.command);
  out += ",\n  \"cupti_version\": ";
  append_int(out, info.cupti_version);
  out += ",\n  \"cuda_driver_version\": ";
  append_int(out, info.driver_version);
  append_place_in_job(out, info);
  out += ",\n  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": ";
  append_int(out, info.base);
  out += ",\n  \"traceEvents\": [\n";
}

void append_call(std::string& out, const TraceInfo& info, const Call& call) {
  open_slice(out, info, call.driver ? "cuda_driver" : "cuda_runtime", call.name, info.process, call.thread, call.times);
  out += ", \"args\": {\"cbid\": ";
  append_int(out, call.id);
  append_field(out, "correlation", call.correlation);
  out += "}}";
  if (call.correlation == 0 || !starts_flow(call.name)) return;
  out += kNextEvent;
  append_flow(out, info, 's', call.correlation, info.process, call.thread, call.times.begin);
}

void append_kernel(std::string& out, const TraceInfo& info, const Kernel& k) {
  open_slice(out, info, "kernel", k.name, k.place.device, k.place.stream, k.times);
  out += ", \"args\": {\"queued\": 0";  // Kineto's, which is always 0
  append_place(out, k.place);
  if (k.queued != 0) append_field(out, "queued before begin (ns)", minus(k.times.begin, k.queued));
  if (k.submitted != 0) append_field(out, "submitted before begin (ns)", minus(k.times.begin, k.submitted));
  append_field(out, "registers per thread", k.registers);
  append_field(out, "shared memory", std::int64_t{k.static_shared} + k.dynamic_shared);
  append_field(out, "static shared memory", k.static_shared);
  append_occupancy(out, device_of(info, k.place.device), k);
  append_list(out, "grid", k.grid);
  append_list(out, "block", k.block);
  if (k.cluster[0] > 0) append_list(out, "cluster", k.cluster);
  append_graph(out, k.place);
  close_gpu_slice(out, info, k.place, k.times.begin, k.place.stream);
}

namespace {

void append_transfer(std::string& out, const TraceInfo& info, std::string_view category, std::string_view name,
                     const GpuPlace& place, std::uint64_t bytes, const Times& times) {
  open_slice(out, info, category, name, place.device, place.stream, times);
  out += ", \"args\": {\"device\": ";
  append_int(out, place.device);
  append_field(out, "context", place.context);
  append_field(out, "stream", place.stream);
  append_field(out, "correlation", place.correlation);
  append_bytes(out, bytes, times);
  append_graph(out, place);
  close_gpu_slice(out, info, place, times.begin, place.stream);
}

}  // namespace

void append_copy(std::string& out, const TraceInfo& info, const Copy& c) {
  std::string name = "Memcpy ";
  name.append(word(kCopyKinds, c.kind))
      .append(" (")
      .append(word(kMemoryKinds, c.from))
      .append(" -> ")
      .append(word(kMemoryKinds, c.to)) += ')';
  append_transfer(out, info, "gpu_memcpy", name, c.place, c.bytes, c.times);
}

void append_fill(std::string& out, const TraceInfo& info, const Fill& f) {
  std::string name = "Memset (";
  name.append(word(kMemoryKinds, f.memory)) += ')';
  append_transfer(out, info, "gpu_memset", name, f.place, f.bytes, f.times);
}

void append_sync(std::string& out, const TraceInfo& info, const Sync& s) {
  const std::int64_t lane = kSyncLane + std::max(s.place.stream, 0);
  open_slice(out, info, "cuda_sync", word(kSyncKinds, s.type), s.place.device, lane, s.times);
  out += ", \"args\": {\"cuda_sync_kind\": ";
  append_json_string(out, word(kSyncKinds, s.type));
  append_field(out, "stream", s.place.stream);
  append_field(out, "correlation", s.place.correlation);
  append_field(out, "device", s.place.device);
  append_field(out, "context", s.place.context);
  if (s.event != 0) append_field(out, "wait_on_cuda_event_id", s.event);
  close_gpu_slice(out, info, s.place, s.times.begin, lane);
}

void append_overhead(std::string& out, const TraceInfo& info, const Overhead& overhead) {
  open_slice(out, info, "overhead", overhead_name(overhead.kind), -1, 0, overhead.times);
  out += '}';
}

void append_range(std::string& out, const TraceInfo& info, const Range& range) {
  const bool is_operator = range.domain == kOperators;
  std::string_view name = range.name, args;
  if (const std::size_t brace = name.find(" {");
      is_operator && brace != std::string_view::npos && is_json_line(name.substr(brace + 1))) {
    args = name.substr(brace + 1);
    name = name.substr(0, brace);
  }
  open_slice(out, info, is_operator ? "cpu_op" : "user_annotation", name, info.process, range.thread, range.times);
  if (!args.empty()) {
    out += ", \"args\": ";
    out += args;
  } else if (!is_operator && !range.domain.empty()) {
    out += ", \"args\": {\"domain\": ";
    append_json_string(out, range.domain);
    out += '}';
  }
  out += '}';
}

void append_mark(std::string& out, const TraceInfo& info, const Marker& mark) {
  out += "{\"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", \"name\": ";
  append_json_string(out, mark.name);
  append_field(out, "pid", info.process);
  append_field(out, "tid", mark.thread);
  append_key(out, "ts");
  append_us(out, minus(mark.time, info.base));
  out += '}';
}

void append_gpu_range(std::string& out, const TraceInfo& info, std::string_view name, const Times& times, std::int32_t device,
                      std::int32_t stream) {
  // A nanosecond on both sides, as Kineto does, so that it encloses its work.
  open_slice(out, info, "gpu_user_annotation", name, device, stream, {minus(times.begin, 1), minus(times.end, -1)});
  out += '}';
}

void append_counter(std::string& out, const TraceInfo& info, std::string_view name, std::int32_t device, Ns time,
                    std::string_view args) {
  out.append("{\"ph\": \"C\", \"cat\": \"hardware_counters\", \"name\": \"").append(name) += '"';
  append_field(out, "pid", device);
  append_key(out, "ts");
  append_us(out, minus(time, info.base));
  out.append(", \"args\": {").append(args).append("}}");
}

void append_recording(std::string& out, const TraceInfo& info, const Times& times, std::uint64_t events) {
  out += "{\"ph\": \"X\", \"cat\": \"Trace\", \"name\": \"gapscope record\", \"pid\": \"Spans\", \"tid\": \"gapscope\"";
  append_key(out, "ts");
  append_us(out, minus(times.begin, info.base));
  append_key(out, "dur");
  append_us(out, minus(times.end, times.begin));
  out += ", \"args\": {\"Op count\": ";
  append_int(out, events);
  out += "}}";
  out += kNextEvent;
  append_meta(out, "process_sort_index", "\"Spans\"", "0", "sort_index", "536870912");
}

void append_process_names(std::string& out, const TraceInfo& info) {
  append_process(out, std::to_string(info.process), info.program, "CPU", info.process);
  out += kNextEvent;
  append_process(out, "-1", info.program, "Overhead", 0x100000);
  out += kNextEvent;
  append_lane(out, "-1", "0", "CUPTI Overhead", 0);
}

void append_gpu_names(std::string& out, const TraceInfo& info, std::int32_t device) {
  append_process(out, std::to_string(device), info.program, "GPU " + std::to_string(device), 5'000'000 + device);
}

void append_thread_name(std::string& out, const TraceInfo& info, std::uint32_t thread, std::string_view name) {
  std::string title = "thread " + std::to_string(thread);
  if (!name.empty()) title.append(" (").append(name) += ')';
  append_lane(out, std::to_string(info.process), std::to_string(thread), title, thread);
}

void append_stream_name(std::string& out, const TraceInfo&, std::int32_t device, std::int64_t stream) {
  const bool waits = stream >= kSyncLane;
  const std::int64_t of = waits ? stream - kSyncLane : stream;
  append_lane(out, std::to_string(device), std::to_string(stream), "stream " + std::to_string(of) + (waits ? " (sync)" : ""),
              of);
}

}  // namespace gapscope::sampler
