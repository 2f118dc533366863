#include "app/sampler/kineto_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include <nlohmann/json.hpp>

#include "core/analyze/gpu/occupancy.h"

namespace gapscope::sampler {
namespace {

constexpr Ns kBasePeriod = 7'889'238'000'000'000;

template <class Int>
void append_int(std::string& out, Int value) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out.append(digits, end);
}

// Shortest digits that give the same float again.
void append_float(std::string& out, float value) {
  if (!std::isfinite(value)) {
    out += '0';
    return;
  }
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out.append(digits, end);
}

// Clocks that jump, or records that are none, must not overflow: at the ends of what there is.
Ns minus(Ns a, Ns b) {
  Ns result = 0;
  if (!__builtin_sub_overflow(a, b, &result)) return result;
  return a < 0 ? std::numeric_limits<Ns>::min() : std::numeric_limits<Ns>::max();
}

// Microseconds with exactly three decimals.
void append_us(std::string& out, Ns ns) {
  ns = std::max<Ns>(ns, 0);
  append_int(out, ns / 1000);
  const int rest = static_cast<int>(ns % 1000);
  out += '.';
  out += static_cast<char>('0' + rest / 100);
  out += static_cast<char>('0' + rest / 10 % 10);
  out += static_cast<char>('0' + rest % 10);
}

void append_key(std::string& out, std::string_view key) {
  out += ", \"";
  out += key;
  out += "\": ";
}
template <class Int>
void append_field(std::string& out, std::string_view key, Int value) {
  append_key(out, key);
  append_int(out, value);
}

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

// Length of a well-formed UTF-8 sequence at the front, 0 where there is none (RFC 3629).
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool overlong = first == 0xE0 && byte(1) < 0xA0, surrogate = first == 0xED && byte(1) > 0x9F;
    return follows(1) && follows(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (first < 0xF0 || first > 0xF4) return 0;
  const bool overlong = first == 0xF0 && byte(1) < 0x90, beyond = first == 0xF4 && byte(1) > 0x8F;
  return follows(1) && follows(2) && follows(3) && !overlong && !beyond ? 4 : 0;
}

// What a program wrote into its range goes into the file as it is only where the file stays what it is: JSON, an event a line.
// The library takes a zero byte for the end.
bool is_json_line(std::string_view text) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20; };
  return std::none_of(text.begin(), text.end(), is_control) && nlohmann::json::accept(text);
}

void append_control(std::string& out, unsigned char c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += "\\u00";
  out += kHex[c >> 4];
  out += kHex[c & 15];
}

}  // namespace

Ns base_time(Ns now) { return now / kBasePeriod * kBasePeriod; }

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const auto c = static_cast<unsigned char>(text[0]);
    std::size_t length = utf8_length(text);
    if (length == 0) {
      out += "\xEF\xBF\xBD";  // U+FFFD: what is no UTF-8 must not make the file invalid
      length = 1;
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c < 0x20) {
      append_control(out, c);
    } else {
      out.append(text.substr(0, length));
    }
    text.remove_prefix(length);
  }
  out += '"';
}

namespace {

// As PyTorch's, of which only these two are known here.
void append_place_in_job(std::string& out, const TraceInfo& info) {
  if (info.rank < 0) return;
  out += ",\n  \"distributedInfo\": {\"rank\": ";
  append_int(out, info.rank);
  if (info.world_size > 0) append_field(out, "world_size", info.world_size);
  out += '}';
}

}  // namespace

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

bool starts_flow(std::string_view call) {
  constexpr std::array<std::string_view, 16> kStarts = {"cudaLaunch",
                                                        "cudaGraphLaunch",
                                                        "cudaMemcpy",
                                                        "cudaMemset",
                                                        "cudaStreamSynchronize",
                                                        "cudaDeviceSynchronize",
                                                        "cudaStreamWaitEvent",
                                                        "cudaEventSynchronize",
                                                        "cuLaunch",
                                                        "cuGraphLaunch",
                                                        "cuMemcpy",
                                                        "cuMemset",
                                                        "cuStreamSynchronize",
                                                        "cuCtxSynchronize",
                                                        "cuStreamWaitEvent",
                                                        "cuEventSynchronize"};
  return std::any_of(kStarts.begin(), kStarts.end(), [&](std::string_view s) { return call.starts_with(s); });
}

bool is_left_out(std::string_view call, bool driver) {
  constexpr std::array<std::string_view, 14> kQuiet = {"cudaGetDevice",
                                                       "cudaSetDevice",
                                                       "cudaGetDeviceCount",
                                                       "cudaGetLastError",
                                                       "cudaPeekAtLastError",
                                                       "cudaEventCreate",
                                                       "cudaEventCreateWithFlags",
                                                       "cudaEventDestroy",
                                                       "cudaStreamIsCapturing",
                                                       "cudaStreamGetCaptureInfo",
                                                       "cudaStreamGetCaptureInfo_v2",
                                                       "__cudaPushCallConfiguration",
                                                       "__cudaPopCallConfiguration",
                                                       "cudaDeviceGetAttribute"};
  constexpr std::array<std::string_view, 14> kTelling = {
      "cuLaunch",  "cuProfiler",  "cuGraphLaunch", "cuGraphInstantiate", "cuMemcpy",     "cuMemset",     "cuMemAlloc",
      "cuMemFree", "cuMemCreate", "cuMemMap",      "cuMemUnmap",         "cuMemRelease", "cuModuleLoad", "cuLibraryLoad"};
  const auto begins = [&](std::string_view s) { return call.starts_with(s); };
  if (driver)
    return call.find("Synchronize") == std::string_view::npos && std::none_of(kTelling.begin(), kTelling.end(), begins);
  return std::find(kQuiet.begin(), kQuiet.end(), call) != kQuiet.end();
}

}  // namespace gapscope::sampler
