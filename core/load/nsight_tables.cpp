#include "core/load/nsight_tables.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/load/nvtx_text.h"

namespace gapscope {
namespace {

constexpr std::array<std::string_view, 11> kCopyKinds = {"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                                         "AtoD",    "DtoA", "DtoD", "HtoH", "PtoP"};
constexpr std::array<std::string_view, 3> kUnifiedKinds = {"HtoD", "DtoH", "DtoD"};  // from 11 on
constexpr std::array<std::string_view, 8> kMemoryKinds = {"Pageable", "Pinned",        "Device",         "Array",
                                                          "Managed",  "Device Static", "Managed Static", "Unknown"};
constexpr std::array<std::string_view, 5> kWaits = {"Unknown", "Event Sync", "Stream Wait Event", "Stream Sync",
                                                    "Context Sync"};
constexpr std::array<std::string_view, 9> kOverheads = {"Unknown",
                                                        "Unknown",
                                                        "Driver Compiler",
                                                        "Buffer Flush",
                                                        "Instrumentation",
                                                        "Resource",
                                                        "Runtime Triggered Module Loading",
                                                        "Lazy Function Loading",
                                                        "Command Buffer Full"};
constexpr std::int64_t kPeerCopy = 10, kFirstUnified = 11;
constexpr std::int64_t kContextSync = 4;
constexpr std::int64_t kMostStreams = std::numeric_limits<std::int32_t>::max();  // "no stream" is above it
// ENUM_NSYS_EVENT_TYPE
constexpr std::int64_t kNvtxMark = 34, kNvtxPushPop = 59, kNvtxStartEnd = 60, kNvtxDomain = 75;

template <std::size_t N>
std::string_view of(const std::array<std::string_view, N>& names, std::int64_t at, std::string_view other) {
  return at >= 0 && at < static_cast<std::int64_t>(N) ? names[static_cast<std::size_t>(at)] : other;
}

// "cudaLaunchKernel" of "cudaLaunchKernel_ptsz_v7000".
std::string_view call_name(std::string_view name) {
  const std::size_t version = name.rfind("_v");
  if (version != name.npos && version + 2 < name.size() &&
      std::all_of(name.begin() + static_cast<std::ptrdiff_t>(version) + 2, name.end(), is_digit))
    name = name.substr(0, version);
  for (const std::string_view ending : {"_ptsz", "_ptds"})
    if (name.ends_with(ending)) name.remove_suffix(ending.size());
  return name;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return out;
}

bool is_category(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || c == '_'; });
}

}  // namespace

NsightTables::NsightTables(SqliteFile& file, NsightWorld& world, KinetoWriter& out)
    : file_(file), world_(world), out_(out), payloads_(file), nccl_(file, world, payloads_) {
  const std::vector<std::string_view> work = {"start",    "end",           "deviceId", "contextId",
                                              "streamId", "correlationId", "globalPid"};
  const auto add = [&](const char* name, std::vector<std::string_view> columns, auto write, bool is_work = true) {
    if (is_work) columns.insert(columns.begin(), work.begin(), work.end());
    tables_.push_back({name, std::move(columns), write});
  };
  add("CUPTI_ACTIVITY_KIND_KERNEL",
      {"demangledName", "shortName", "mangledName", "registersPerThread", "gridX", "gridY", "gridZ", "blockX", "blockY",
       "blockZ", "staticSharedMemory", "dynamicSharedMemory", "localMemoryPerThread", "graphId", "graphNodeId", "clusterX",
       "clusterY", "clusterZ"},
      &NsightTables::kernel);
  add("CUPTI_ACTIVITY_KIND_MEMCPY",
      {"bytes", "copyKind", "srcKind", "dstKind", "graphNodeId", "srcDeviceId", "dstDeviceId", "copyCount"},
      &NsightTables::copy);
  add("CUPTI_ACTIVITY_KIND_MEMSET", {"bytes", "memKind", "graphNodeId"}, &NsightTables::set);
  add("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", {"graphId", "graphExecId"}, &NsightTables::graph);
  add("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", {"syncType", "eventId", "eventSyncId"}, &NsightTables::wait);
  add("CUPTI_ACTIVITY_KIND_RUNTIME", {"start", "end", "globalTid", "correlationId", "nameId", "returnValue"},
      &NsightTables::call, false);
  add("NVTX_EVENTS",
      {"start", "end", "eventType", "globalTid", "text", "textId", "domainId", "jsonText", "jsonTextId", "uint64Value",
       "int64Value", "doubleValue", "uint32Value", "int32Value", "floatValue", "binaryData"},
      &NsightTables::range, false);
  add("CUPTI_ACTIVITY_KIND_OVERHEAD", {"start", "end", "globalTid", "nameId", "overheadType"}, &NsightTables::overhead, false);
  add("PROFILER_OVERHEAD", {"start", "end", "globalTid", "nameId", "overheadType"}, &NsightTables::overhead, false);
  add("CUDA_GPU_MEMORY_USAGE_EVENTS", {"start", "globalPid", "deviceId", "address", "bytes", "memKind", "memoryOperationType"},
      &NsightTables::memory, false);
  add("GPU_METRICS", {"timestamp", "typeId", "metricId", "value"}, &NsightTables::metric, false);
  add_others();
}

// Calls of libraries and of the system, each in a table of its own and all alike: OSRT_API, CUBLAS_EVENTS, MPI_P2P_EVENTS...
void NsightTables::add_others() {
  for (const std::string& table : file_.tables()) {
    if (!is_category(lower(table)) ||
        std::any_of(tables_.begin(), tables_.end(), [&](const Table& t) { return t.name == table; }))
      continue;
    const bool is_alike = file_.has_column(table, "start") && file_.has_column(table, "end") &&
                          file_.has_column(table, "globalTid") &&
                          (file_.has_column(table, "nameId") || file_.has_column(table, "textId"));
    if (is_alike) tables_.push_back({table, {"start", "end", "globalTid", "nameId", "textId"}, &NsightTables::other});
  }
}

bool NsightTables::next() {
  for (; at_ < tables_.size(); ++at_, rows_.reset()) {
    const Table& table = tables_[at_];
    if (!rows_) rows_.emplace(file_.rows(table.name, table.columns));
    if (rows_->next()) {
      (this->*table.write)(*rows_);
      return true;
    }
    if (file_.trouble()) return false;
  }
  return false;
}

std::optional<Ns> NsightTables::length(const Rows& r) const {
  const std::optional<Ns> start = r.number(0), end = r.number(1) ? r.number(1) : world_.end();
  Ns out = 0;
  if (!start || !end || __builtin_sub_overflow(*end, *start, &out)) return std::nullopt;
  return out;
}

NsightTables::Work NsightTables::begin_work(const Rows& r, std::string_view category, std::string_view name, bool is_wait) {
  Work work;
  work.process = NsightWorld::process_of(r.number_or(6, 0));
  const std::int64_t context = r.number_or(3, 0), stated = r.number_or(2, 0);
  if (!is_wait) world_.note_context(work.process, context, stated);
  work.device = world_.device(work.process, is_wait ? world_.device_of_context(work.process, context, stated) : stated);
  work.stream = r.number_or(4, -1);
  if (work.stream > kMostStreams || (is_wait && r.number(7) == kContextSync)) work.stream = -1;
  out_.slice(category, name, world_.stream(work.process, work.device, work.stream, is_wait), begin(r), length(r).value_or(0));
  out_.arg("device", work.device);
  out_.arg("context", context);
  out_.arg("stream", work.stream);
  if (const auto id = r.number(5)) out_.arg("correlation", world_.correlation(work.process, *id));
  return work;
}

void NsightTables::kernel(const Rows& r) {
  enum {
    kDemangled = 7,
    kShort,
    kMangled,
    kRegisters,
    kGrid,
    kBlock = kGrid + 3,
    kStatic = kBlock + 3,
    kDynamic,
    kLocal,
    kGraph,
    kNode,
    kCluster
  };
  std::string_view name = world_.text(r.number(kDemangled));
  if (name.empty()) name = world_.text(r.number(kShort));
  if (name.empty()) name = world_.text(r.number(kMangled));
  const Work work = begin_work(r, "kernel", name.empty() ? "kernel without a name" : name);
  if (const auto node = r.number(kNode); node && *node != 0) out_.arg("graph node id", *node);
  const auto three = [&](std::size_t first) {
    return std::array<std::int64_t, 3>{r.number_or(first, 0), r.number_or(first + 1, 0), r.number_or(first + 2, 0)};
  };
  const auto grid = three(kGrid), block = three(kBlock), cluster = three(kCluster);
  const auto size = [](const std::array<std::int64_t, 3>& of) {
    return static_cast<double>(of[0]) * static_cast<double>(of[1]) * static_cast<double>(of[2]);
  };
  if (const auto id = r.number(kGraph); id && *id != 0) out_.arg("graph id", *id);
  if (const auto registers = r.number(kRegisters)) out_.arg("registers per thread", *registers);
  std::int64_t shared = 0;
  if (!__builtin_add_overflow(r.number_or(kStatic, 0), r.number_or(kDynamic, 0), &shared)) out_.arg("shared memory", shared);
  if (const std::int64_t sms = world_.sms(work.device); sms > 0 && size(grid) > 0) {
    out_.arg("blocks per SM", size(grid) / static_cast<double>(sms));
    out_.arg("warps per SM", size(grid) / static_cast<double>(sms) * size(block) / 32);
  }
  out_.arg("grid", {grid[0], grid[1], grid[2]});
  out_.arg("block", {block[0], block[1], block[2]});
  out_.arg("static shared memory", r.number_or(kStatic, 0));
  out_.arg("dynamic shared memory", r.number_or(kDynamic, 0));
  if (size(cluster) > 0) out_.arg("cluster", {cluster[0], cluster[1], cluster[2]});
  if (const auto local = r.number(kLocal); local && *local != 0) out_.arg("local memory per thread", *local);
  nccl_.write_args(out_, work.process, r.number(5), name);
  out_.end();
}

void NsightTables::copy(const Rows& r) {
  enum { kCopyBytes = 7, kKind, kFrom, kTo, kNode, kFromDevice, kToDevice, kCount };
  const std::int64_t kind = r.number_or(kKind, 0);
  const bool is_unified = kind >= kFirstUnified;
  name_ = fmt::format("Memcpy {} ({} -> {})",
                      is_unified ? of(kUnifiedKinds, kind - kFirstUnified, "Unknown") : of(kCopyKinds, kind, "Unknown"),
                      is_unified ? "Managed" : of(kMemoryKinds, r.number_or(kFrom, -1), "Unknown"),
                      is_unified ? "Managed" : of(kMemoryKinds, r.number_or(kTo, -1), "Unknown"));
  const Work work = begin_work(r, "gpu_memcpy", name_);
  const auto bytes = r.number(kCopyBytes);
  if (bytes) out_.arg("bytes", *bytes);
  if (const auto took = length(r); bytes && took && *took > 0)
    out_.arg("memory bandwidth (GB/s)", static_cast<double>(*bytes) / static_cast<double>(*took));
  if (kind == kPeerCopy) {
    out_.arg("fromDevice", world_.device(work.process, r.number_or(kFromDevice, 0)));
    out_.arg("toDevice", world_.device(work.process, r.number_or(kToDevice, 0)));
  }
  if (const auto count = r.number(kCount); count && *count > 1) out_.arg("copies", *count);
  if (const auto node = r.number(kNode); node && *node != 0) out_.arg("graph node id", *node);
  out_.end();
}

void NsightTables::set(const Rows& r) {
  name_ = fmt::format("Memset ({})", of(kMemoryKinds, r.number_or(8, -1), "Unknown"));
  begin_work(r, "gpu_memset", name_);
  if (const auto bytes = r.number(7)) out_.arg("bytes", *bytes);
  if (const auto node = r.number(9); node && *node != 0) out_.arg("graph node id", *node);
  out_.end();
}

// A replay as a whole, as it is recorded unless --cuda-graph-trace=node says otherwise.
void NsightTables::graph(const Rows& r) {
  name_ = fmt::format("CUDA graph {}", r.number_or(7, 0));
  begin_work(r, "kernel", name_);
  if (const auto id = r.number(7)) out_.arg("graph id", *id);
  out_.end();
}

void NsightTables::wait(const Rows& r) {
  const std::int64_t type = r.number_or(7, 0);
  const std::string_view name = of(kWaits, type, "Unknown");
  begin_work(r, "cuda_sync", name, true);
  out_.arg("cuda_sync_kind", name);
  if (!events_) {
    events_.emplace();
    auto rows = file_.rows("CUPTI_ACTIVITY_KIND_CUDA_EVENT", {"eventSyncId", "streamId", "correlationId"});
    while (rows.next())
      if (const auto id = rows.number(0); id && *id != 0) (*events_)[*id] = {rows.number_or(1, -1), rows.number_or(2, 0)};
  }
  if (const auto id = r.number(8); id && *id != 0) out_.arg("wait_on_cuda_event_id", *id);
  if (const auto at = events_->find(r.number_or(9, 0)); at != events_->end()) {
    out_.arg("wait_on_stream", at->second.first);
    out_.arg("wait_on_cuda_event_record_corr_id",
             world_.correlation(NsightWorld::process_of(r.number_or(6, 0)), at->second.second));
  }
  out_.end();
}

void NsightTables::call(const Rows& r) {
  const std::int64_t thread = r.number_or(2, 0);
  const std::string_view name = call_name(world_.text(r.number(4)));
  const bool is_runtime = name.starts_with("cuda") || !name.starts_with("cu");
  out_.slice(is_runtime ? "cuda_runtime" : "cuda_driver", name.empty() ? "call without a name" : name, world_.thread(thread),
             begin(r), length(r).value_or(0));
  if (const auto id = r.number(3)) out_.arg("correlation", world_.correlation(NsightWorld::process_of(thread), *id));
  if (const std::int64_t result = r.number_or(5, 0); result != 0) out_.arg("result", result);
  out_.end();
}

std::string_view NsightTables::domain(std::int64_t thread, std::int64_t id) {
  if (!domains_) {
    domains_.emplace();
    auto rows = file_.rows("NVTX_EVENTS", {"eventType", "globalTid", "domainId", "text", "textId"});
    while (rows.next()) {
      if (rows.number_or(0, 0) != kNvtxDomain) continue;
      const std::string_view text = rows.text(3);
      (*domains_)[{NsightWorld::process_of(rows.number_or(1, 0)), rows.number_or(2, 0)}] =
          text.empty() ? world_.text(rows.number(4)) : text;
    }
  }
  const auto at = domains_->find({NsightWorld::process_of(thread), id});
  return at == domains_->end() ? std::string_view() : std::string_view(at->second);
}

void NsightTables::range(const Rows& r) {
  const std::int64_t type = r.number_or(2, kNvtxPushPop), thread = r.number_or(3, 0);
  if (type != kNvtxPushPop && type != kNvtxStartEnd && type != kNvtxMark) return;
  std::string_view text = r.text(4);
  if (text.empty()) text = world_.text(r.number(5));
  const KinetoPlace at = world_.thread(thread);
  if (type == kNvtxMark)
    out_.instant("user_annotation", text, at, begin(r));
  else
    annotation(r, text, at);
  if (const std::int64_t id = r.number_or(6, 0); id != 0)
    if (const std::string_view name = domain(thread, id); !name.empty()) out_.arg("domain", name);
  payload(r);
  out_.end();
}

// What autograd.profiler.emit_nvtx() wrote is an operator again.
void NsightTables::annotation(const Rows& r, std::string_view text, KinetoPlace at) {
  const NvtxText nvtx = parse_nvtx(text);
  out_.slice(nvtx.is_operator ? "cpu_op" : "user_annotation", nvtx.name.empty() ? "range without a name" : nvtx.name, at,
             begin(r), length(r));
  if (nvtx.op_id) out_.arg("Record function id", *nvtx.op_id);
  if (nvtx.sequence) out_.arg("Sequence number", *nvtx.sequence);
  if (!nvtx.sizes.empty()) out_.json_arg("Input Dims", nvtx.sizes);
}

void NsightTables::payload(const Rows& r) {
  std::string_view json = r.text(7);
  if (json.empty()) json = world_.text(r.number(8));
  if (json.empty()) json = payloads_.json(r.value(15).bytes);
  if (is_small_json(json)) return out_.json_arg("payload", json);
  for (std::size_t column = 9; column < 15; ++column) {
    if (const auto whole = r.number(column); whole && column != 11 && column != 14) return out_.arg("payload", *whole);
    if (const auto real = r.real(column)) return out_.arg("payload", *real);
  }
}

void NsightTables::overhead(const Rows& r) {
  std::string_view name = world_.text(r.number(3));
  if (name.empty()) name = of(kOverheads, r.number_or(4, 0), "Unknown");
  out_.slice("overhead", name, world_.overhead(r.number_or(2, 0)), begin(r), length(r).value_or(0));
  out_.end();
}

// As Kineto writes what PyTorch's allocator gives out: here it is what the driver gives.
void NsightTables::memory(const Rows& r) {
  constexpr std::int64_t kFree = 1, kDevice = 2;
  const std::int64_t process = NsightWorld::process_of(r.number_or(1, 0));
  const std::int64_t device = world_.device(process, r.number_or(2, 0));
  const bool is_free = r.number_or(6, 0) == kFree;
  const std::int64_t address = r.number_or(3, 0), kind = r.number_or(5, kDevice);
  std::int64_t bytes = r.number_or(4, 0), total = 0;
  if (kind != kDevice && kind < static_cast<std::int64_t>(kMemoryKinds.size())) return;  // of the host
  if (is_free && bytes == 0) bytes = allocations_[address];
  if (!is_free) allocations_[address] = bytes;
  bytes = is_free ? -bytes : bytes;
  if (bytes == std::numeric_limits<std::int64_t>::min() || __builtin_add_overflow(allocated_[device], bytes, &total)) return;
  allocated_[device] = total;
  // The row says which process, not which thread: its first.
  out_.instant("cpu_instant_event", "[memory]", world_.thread(process << 24 | (process & 0xFFFFFF)), begin(r));
  out_.arg("Device Type", 1);
  out_.arg("Device Id", device);
  out_.arg("Addr", address);
  out_.arg("Bytes", bytes);
  out_.arg("Total Allocated", total);
  out_.arg("Total Reserved", total);
  out_.end();
}

void NsightTables::metric(const Rows& r) {
  if (!metrics_) {
    metrics_.emplace();
    auto rows = file_.rows("TARGET_INFO_GPU_METRICS", {"typeId", "metricId", "metricName"});
    while (rows.next()) (*metrics_)[{rows.number_or(0, 0), rows.number_or(1, 0)}] = rows.text(2);
  }
  const std::int64_t type = r.number_or(1, 0), id = r.number_or(2, 0);
  const auto at = metrics_->find({type, id});
  const auto value = r.real(3);
  if (!value) return;
  name_ = at == metrics_->end() ? fmt::format("metric {}", id) : at->second;
  out_.counter(name_, world_.gpu(type & 0xFF), begin(r), *value);
}

void NsightTables::other(const Rows& r) {
  std::string_view name = world_.text(r.number(3));
  if (name.empty()) name = world_.text(r.number(4));
  name_ = lower(tables_[at_].name);
  out_.slice(name_, name.empty() ? "call without a name" : name, world_.thread(r.number_or(2, 0)), begin(r), length(r));
  out_.end();
}

}  // namespace gapscope
