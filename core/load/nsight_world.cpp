#include "core/load/nsight_world.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace gapscope {
namespace {

constexpr std::int64_t kIdMask = 0xFFFFFF;
constexpr std::int64_t kSyncLanes = 1'000'000;     // Kineto's number for the waits of a stream, above the stream's
constexpr std::int64_t kSharerLanes = 10'000'000;  // above the stream's, for each further process on it
constexpr std::int64_t kGpuSort = 5'000'000;       // as Kineto sorts
constexpr std::int64_t kMostGpus = 1024;
constexpr std::int64_t kLowIds = 32;  // a process whose id might be a GPU's number gets another key
constexpr unsigned kCorrelationShift = 40;
constexpr std::size_t kMostDiagnostics = 50;
constexpr std::size_t kLongestText = 4096;
constexpr std::size_t kLongestDiagnostic = 1000;             // so that all of them fit into a value of a trace's header
constexpr std::size_t kLongestName = std::size_t{16} << 10;  // bytes; a row that refers to one writes it anew

struct GpuColumn {
  std::string_view column;
  const char* key;  // of Kineto's deviceProperties
};
constexpr std::array<GpuColumn, 11> kGpuColumns = {{{"totalMemory", "totalGlobalMem"},
                                                    {"computeMajor", "computeMajor"},
                                                    {"computeMinor", "computeMinor"},
                                                    {"maxThreadsPerBlock", "maxThreadsPerBlock"},
                                                    {"maxRegistersPerBlock", "regsPerBlock"},
                                                    {"threadsPerWarp", "warpSize"},
                                                    {"maxShmemPerBlock", "sharedMemPerBlock"},
                                                    {"smCount", "numSms"},
                                                    {"maxRegistersPerSm", "regsPerMultiprocessor"},
                                                    {"maxShmemPerBlockOptin", "sharedMemPerBlockOptin"},
                                                    {"maxShmemPerSm", "sharedMemPerMultiprocessor"}}};

std::string json(std::string_view text) {
  std::string out;
  append_json_string(out, text.substr(0, kLongestText));
  return out;
}

}  // namespace

NsightWorld::NsightWorld(SqliteFile& file) : file_(file) {
  read_texts();
  read_processes();
  read_gpus();
  if (gpus_.empty()) guess_gpus();
  read_clocks();
  part_correlations();
}

void NsightWorld::read_texts() {
  auto rows = file_.rows("StringIds", {"id", "value"});
  while (rows.next())
    if (const auto id = rows.number(0)) texts_.emplace(*id, rows.text(1).substr(0, kLongestName));
}

std::string_view NsightWorld::text(std::optional<std::int64_t> id) const {
  const auto at = id ? texts_.find(*id) : texts_.end();
  return at == texts_.end() ? std::string_view() : std::string_view(at->second);
}

void NsightWorld::read_processes() {
  auto rows = file_.rows("PROCESSES", {"globalPid", "name"});
  while (rows.next())
    if (const auto id = rows.number(0)) process_names_.emplace(process_of(*id), rows.text(1));
  auto threads = file_.rows("ThreadNames", {"globalTid", "nameId"});
  while (threads.next())
    if (const auto id = threads.number(0)) thread_names_[*id] = threads.number_or(1, 0);
}

void NsightWorld::read_gpus() {
  std::vector<std::string_view> columns = {"id", "name", "maxWarpsPerSm", "threadsPerWarp", "cuDevice"};
  for (const GpuColumn& c : kGpuColumns) columns.push_back(c.column);
  auto rows = file_.rows("TARGET_INFO_GPU", columns);
  while (rows.next()) {
    const auto id = rows.number(0);
    if (!id || gpus_.size() >= static_cast<std::size_t>(kMostGpus)) continue;
    auto& [name, values] = gpus_[*id];
    name = rows.text(1);
    values.clear();
    for (std::size_t i = 0; i < kGpuColumns.size(); ++i)
      if (const auto value = rows.number(5 + i)) values.emplace_back(kGpuColumns[i].key, *value);
    const std::int64_t warps = rows.number_or(2, 0), threads = rows.number_or(3, 32);
    if (warps > 0 && warps < 1024 && threads > 0 && threads < 1024)
      values.emplace_back("maxThreadsPerMultiprocessor", warps * threads);
  }
  auto contexts = file_.rows("TARGET_INFO_CUDA_CONTEXT_INFO", {"processId", "contextId", "deviceId"});
  while (contexts.next())
    if (const auto device = contexts.number(2)) device_of_[{contexts.number_or(0, -1), contexts.number_or(1, -1)}] = *device;
  auto devices = file_.rows("TARGET_INFO_CUDA_DEVICE", {"pid", "cudaId", "gpuId"});
  while (devices.next())
    if (const auto gpu = devices.number(2)) gpu_of_[{devices.number_or(0, -1), devices.number_or(1, -1)}] = *gpu;
}

// Of an export without its table of GPUs, as tools that cut out a part write: by what only some GPUs can run. A policy for
// clusters of blocks is that of compute capability 9.0 and later, and so much shared memory at a time none of 12.x has. What is
// left, 9.0 and 10.x, has the same limits; how many SMs there are stays unknown.
void NsightWorld::guess_gpus() {
  constexpr std::int64_t kMoreThanOthersHave = 100 << 10;
  constexpr int kMostLooked = 10'000;
  std::map<std::int64_t, std::pair<bool, bool>> said;  // has clusters, has much memory; by device
  auto rows = file_.rows("CUPTI_ACTIVITY_KIND_KERNEL", {"deviceId", "clusterSchedulingPolicy", "sharedMemoryExecuted"});
  for (int i = 0; i < kMostLooked && rows.next(); ++i) {
    auto& [has_clusters, has_memory] = said[rows.number_or(0, 0)];
    has_clusters |= rows.number_or(1, 0) > 0;
    has_memory |= rows.number_or(2, 0) > kMoreThanOthersHave;
    if (said.size() > static_cast<std::size_t>(kMostGpus)) return;
  }
  for (const auto& [id, has] : said)
    if (has.first && has.second)
      gpus_[id] = {"compute capability 9.0 or 10.x, by its kernels",
                   {{"computeMajor", 9},
                    {"computeMinor", 0},
                    {"warpSize", 32},
                    {"maxThreadsPerMultiprocessor", 2048},
                    {"regsPerBlock", 65536},
                    {"regsPerMultiprocessor", 65536},
                    {"sharedMemPerBlock", 48 << 10},
                    {"sharedMemPerMultiprocessor", 228 << 10}}};
}

std::int64_t NsightWorld::device(std::int64_t process, std::int64_t device) const {
  const auto at = gpu_of_.find({process & kIdMask, device});
  return at == gpu_of_.end() ? device : at->second;
}

void NsightWorld::note_context(std::int64_t process, std::int64_t context, std::int64_t device) {
  device_of_.try_emplace({process & kIdMask, context}, device);
}

std::int64_t NsightWorld::device_of_context(std::int64_t process, std::int64_t context, std::int64_t device) const {
  const auto at = device_of_.find({process & kIdMask, context});
  return at == device_of_.end() ? device : at->second;
}

std::int64_t NsightWorld::sms(std::int64_t device) const {
  const auto at = gpus_.find(device);
  if (at == gpus_.end()) return 0;
  for (const auto& [key, value] : at->second.second)
    if (std::string_view(key) == "numSms") return value;
  return 0;
}

// Times count from the session's start.
void NsightWorld::read_clocks() {
  auto details = file_.rows("ANALYSIS_DETAILS", {"duration"});
  if (details.next()) end_ = details.number(0);
  auto session = file_.rows("TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"});
  if (session.next()) base_time_ = session.number(0);
}

// Where ids of several processes meet, those of all but the first are moved above any that a recording counts to.
void NsightWorld::part_correlations() {
  std::set<std::int64_t> pids;
  for (const char* table : {"TARGET_INFO_CUDA_CONTEXT_INFO", "TARGET_INFO_CUDA_STREAM"}) {
    auto rows = file_.rows(table, {"processId"});
    while (rows.next()) pids.insert(rows.number_or(0, 0));
  }
  if (pids.size() == 1) return;
  std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> ranges;
  const auto add = [&](const char* table, std::string_view owner) {
    auto rows = file_.rows(table, {"correlationId", owner});
    while (rows.next()) {
      const auto id = rows.number(0), of = rows.number(1);
      if (!id || !of || *id == 0) continue;
      auto& [least, most] = ranges.try_emplace(process_of(*of), *id, *id).first->second;
      least = std::min(least, *id);
      most = std::max(most, *id);
    }
  };
  add("CUPTI_ACTIVITY_KIND_RUNTIME", "globalTid");
  for (const char* table : {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET"})
    add(table, "globalPid");
  std::vector<std::pair<std::int64_t, std::int64_t>> sorted;  // two that meet are neighbours then
  for (const auto& [process, range] : ranges) sorted.push_back(range);
  std::sort(sorted.begin(), sorted.end());
  const bool meet = std::adjacent_find(sorted.begin(), sorted.end(),
                                       [](const auto& a, const auto& b) { return b.first <= a.second; }) != sorted.end();
  std::int64_t count = 0;
  if (meet)
    for (const auto& [process, ignored] : ranges) correlation_above_[process] = count++ << kCorrelationShift;
}

std::int64_t NsightWorld::correlation(std::int64_t process, std::int64_t id) const {
  const auto at = correlation_above_.find(process);
  return at == correlation_above_.end() || id <= 0 ? id : id | at->second;
}

NsightWorld::Process& NsightWorld::process(std::int64_t key) {
  const auto [at, is_new] = processes_.try_emplace(key);
  Process& out = at->second;
  if (!is_new) return out;
  out.id = key & kIdMask;
  const bool is_taken = !process_ids_.insert(out.id).second;
  // A number alone would be that of a GPU, or of the same process number on another machine.
  out.key = is_taken           ? json(fmt::format("{} on {}", out.id, key >> 24))
            : out.id < kLowIds ? json(fmt::format("pid {}", out.id))
                               : std::to_string(out.id);
  if (const auto name = process_names_.find(key); name != process_names_.end()) out.name = name->second;
  return out;
}

KinetoPlace NsightWorld::thread(std::int64_t global_tid) {
  const auto [at, is_new] = threads_.try_emplace(global_tid);
  Thread& thread = at->second;
  if (is_new) {
    thread.number = global_tid & kIdMask;
    thread.pid = process(process_of(global_tid)).key;
    thread.tid = std::to_string(thread.number);
    if (const auto name = thread_names_.find(global_tid); name != thread_names_.end()) thread.name = text(name->second);
  }
  return {thread.pid, thread.tid};
}

KinetoPlace NsightWorld::overhead(std::int64_t global_tid) {
  const auto [at, is_new] = overheads_.try_emplace(global_tid);
  if (is_new) at->second = {"-1", std::to_string(global_tid & kIdMask), {}, 0};
  return {at->second.pid, at->second.tid};
}

KinetoPlace NsightWorld::samples(std::int64_t global_tid) {
  const auto [at, is_new] = sampled_.try_emplace(global_tid);
  Thread& lane = at->second;
  if (is_new) {
    lane.number = global_tid & kIdMask;
    lane.pid = process(process_of(global_tid)).key;
    lane.tid = json(fmt::format("samples {}", lane.number));
    lane.name = fmt::format("CPU samples of thread {}", lane.number);
    if (const auto name = thread_names_.find(global_tid); name != thread_names_.end())
      lane.name += fmt::format(" ({})", text(name->second));
  }
  return {lane.pid, lane.tid};
}

KinetoPlace NsightWorld::gpu(std::int64_t device) {
  const auto [at, is_new] = gpu_keys_.try_emplace(device);
  if (is_new) at->second = std::to_string(device);
  return {at->second, at->second};
}

KinetoPlace NsightWorld::stream(std::int64_t process, std::int64_t device, std::int64_t stream, bool is_sync) {
  const auto [at, is_new] = streams_.try_emplace(std::tuple(process, device, stream, is_sync));
  Stream& lane = at->second;
  if (is_new) {
    const auto other = streams_.find(std::tuple(process, device, stream, !is_sync));
    const std::int64_t sharer = other != streams_.end() ? other->second.order : sharers_[{device, stream}]++;
    lane.order = sharer;
    lane.pid = gpu(device).pid;
    const std::int64_t number = sharer * kSharerLanes + (is_sync && stream >= 0 ? kSyncLanes : 0);
    lane.tid = std::to_string(stream >= 0 ? stream + number : -1 - number);
    lane.name = stream < 0 ? "context" : fmt::format("stream {}{}", stream, is_sync ? " (sync)" : "");
    if (sharer > 0) lane.name += fmt::format(" of process {}", process & kIdMask);
  }
  return {lane.pid, lane.tid};
}

std::string NsightWorld::first_value(const std::string& table, std::string_view name) {
  auto rows = file_.rows(table, {"name", "value"});
  while (rows.next())
    if (rows.text(0) == name) return std::string(rows.text(1));
  return {};
}

// Of the first process that was started. The table has its environment, too, which is private.
std::string NsightWorld::command() {
  std::string out;
  auto rows = file_.rows("META_DATA_CAPTURE", {"name", "value"});
  while (out.size() < kLongestText && rows.next()) {
    const std::string_view name = rows.text(0);
    if (name != "PROCESS_0:COMMAND" && !name.starts_with("PROCESS_0:ARGUMENT_")) continue;
    const std::string word(rows.text(1));
    out += (out.empty() ? "" : " ") + word;
  }
  return out;
}

void NsightWorld::write_header(std::string& out) {
  out += "{\n\"schemaVersion\":1,\n\"recorder\":\"nsight_systems\"";
  const auto add = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) out += fmt::format(",\n\"{}\":{}", key, json(value));
  };
  add("nsight_systems_version", first_value("META_DATA_EXPORT", "EXPORT_PRODUCT_VERSION"));
  add("nsight_systems_schema", first_value("META_DATA_EXPORT", "EXPORT_SCHEMA_VERSION"));
  add("cuda_driver_version", first_value("TARGET_INFO_SYSTEM_ENV", "CudaDriverVersion"));
  add("command", command());
  write_diagnostics(out);
  if (base_time_) out += fmt::format(",\n\"baseTimeNanoseconds\":{}", *base_time_);
  write_gpus(out);
  out += ",\n\"traceEvents\":[";
}

void NsightWorld::write_gpus(std::string& out) const {
  out += ",\n\"deviceProperties\":[";
  bool is_first = true;
  for (const auto& [id, gpu] : gpus_) {
    out += fmt::format("{}\n{{\"id\":{},\"name\":{}", is_first ? "" : ",", id, json(gpu.first));
    for (const auto& [key, value] : gpu.second) out += fmt::format(",\"{}\":{}", key, value);
    out += '}';
    is_first = false;
  }
  out += ']';
}

// What the profiler itself says went wrong.
void NsightWorld::write_diagnostics(std::string& out) {
  constexpr std::int64_t kWarning = 2, kError = 3;  // ENUM_DIAGNOSTIC_SEVERITY_LEVEL; 4 is "Verbose"
  std::vector<std::string> texts;
  auto rows = file_.rows("DIAGNOSTIC_EVENT", {"severity", "text"});
  while (texts.size() < kMostDiagnostics && rows.next())
    if (const std::int64_t severity = rows.number_or(0, 0); severity == kWarning || severity == kError)
      if (std::string text = json(rows.text(1).substr(0, kLongestDiagnostic));
          std::find(texts.begin(), texts.end(), text) == texts.end())
        texts.push_back(std::move(text));
  if (texts.empty()) return;
  out += ",\n\"nsight_systems_diagnostics\":[";
  for (std::size_t i = 0; i < texts.size(); ++i) out += (i == 0 ? "" : ",") + texts[i];
  out += ']';
}

void NsightWorld::write_names(KinetoWriter& out) {
  for (const auto& [key, process] : processes_) {
    const KinetoPlace at{process.key, "0"};
    if (!process.name.empty()) out.name("process_name", at, "name", process.name);
    out.name("process_labels", at, "labels", "CPU");
    out.sort_index("process_sort_index", at, process.id);
  }
  for (const auto& [device, key] : gpu_keys_) {
    const KinetoPlace at{key, "0"};
    out.name("process_labels", at, "labels", fmt::format("GPU {}", device));
    out.sort_index("process_sort_index", at, kGpuSort + std::clamp<std::int64_t>(device, 0, kMostGpus));
  }
  for (const auto& [id, thread] : threads_) {
    const KinetoPlace at{thread.pid, thread.tid};
    if (!thread.name.empty()) out.name("thread_name", at, "name", fmt::format("thread {} ({})", thread.number, thread.name));
    out.sort_index("thread_sort_index", at, thread.number);
  }
  for (const auto& [id, lane] : sampled_) {
    const KinetoPlace at{lane.pid, lane.tid};
    out.name("thread_name", at, "name", lane.name);
    out.sort_index("thread_sort_index", at, lane.number);
  }
  for (const auto& [key, lane] : streams_) {
    const KinetoPlace at{lane.pid, lane.tid};
    out.name("thread_name", at, "name", lane.name);
    out.sort_index("thread_sort_index", at, std::get<2>(key));
  }
  for (const auto& [id, lane] : overheads_) {
    out.name("process_name", {lane.pid, "0"}, "name", "CUPTI Overhead");
    break;
  }
}

}  // namespace gapscope
