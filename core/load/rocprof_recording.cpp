#include "core/load/rocprof_recording.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace gapscope {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;

constexpr std::int64_t kGpuAgent = 2;
constexpr std::int64_t kWave = 64;                           // threads, where an agent does not say
constexpr std::int64_t kGfx90a = 90'010, kGfx10 = 100'000;   // gfx_target_version
constexpr std::int64_t kLowIds = 32;                         // a process whose id might be a GPU's number gets another key
constexpr std::int64_t kGpuSort = 5'000'000;                 // as Kineto sorts
constexpr std::size_t kLongestName = std::size_t{16} << 10;  // bytes; a record that refers to one writes it anew
constexpr unsigned kCorrelationShift = 40;  // ids of the second process on are above what a recording counts to

// Nothing where the key is not there, or its value is of another type.
std::optional<std::int64_t> number(const element& of, std::string_view key) {
  std::int64_t value = 0;
  return of[key].get(value) == simdjson::SUCCESS ? std::optional(value) : std::nullopt;
}
std::int64_t number_or(const element& of, std::string_view key, std::int64_t other) { return number(of, key).value_or(other); }
// Of {"handle": 3}.
std::int64_t handle(const element& of, std::string_view key, std::int64_t other) {
  element inner;
  return of[key].get(inner) == simdjson::SUCCESS ? number_or(inner, "handle", other) : other;
}
std::string_view text(const element& of, std::string_view key) {
  std::string_view value;
  return of[key].get(value) == simdjson::SUCCESS ? value.substr(0, kLongestName) : std::string_view();
}
std::array<std::int64_t, 3> three(const element& of, std::string_view key) {
  element inner;
  if (of[key].get(inner) != simdjson::SUCCESS) return {};
  return {number_or(inner, "x", 0), number_or(inner, "y", 0), number_or(inner, "z", 0)};
}
std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return a <= 0 || b <= 0 ? 0 : a / b + (a % b != 0 ? 1 : 0); }

array list(const element& of, std::string_view key) {
  array out;
  if (of[key].get(out) == simdjson::SUCCESS) return out;
  static simdjson::dom::parser parser;
  static const array kNone = parser.parse(std::string_view("[]")).get_array().value_unsafe();
  return kNone;
}

std::optional<Ns> begin(const element& r) { return number(r, "start_timestamp"); }

std::optional<Ns> length(const element& r) {
  const auto start = begin(r), end = number(r, "end_timestamp");
  Ns out = 0;
  if (!start || !end || __builtin_sub_overflow(*end, *start, &out)) return 0;
  return out;
}

}  // namespace

RocprofRecording::RocprofRecording(const element& tool, std::size_t order, KinetoWriter& events)
    : tool_(tool), order_(order), events_(events) {
  element metadata;
  if (tool_["metadata"].get(metadata) == simdjson::SUCCESS) {
    pid_ = number_or(metadata, "pid", 0);
    element command;
    std::string_view first;
    if (metadata["command"].get(command) == simdjson::SUCCESS && command.at(0).get(first) == simdjson::SUCCESS)
      program_ = first.substr(0, kLongestName);
  }
  key_ = pid_ < kLowIds ? fmt::format("\"pid {}\"", pid_) : std::to_string(pid_);
  read_agents();
  read_texts();
  add("kernel_dispatch", &RocprofRecording::dispatch);
  add("memory_copy", &RocprofRecording::copy);
  for (const char* table : {"hip_api", "hsa_api", "rccl_api", "rocdecode_api", "rocjpeg_api"})
    add(table, &RocprofRecording::call);
  add("marker_api", &RocprofRecording::marker);
  add("memory_allocation", &RocprofRecording::allocation);
}

void RocprofRecording::add(const char* table, void (RocprofRecording::*write)(const element&)) {
  for (const char* group : {"buffer_records", "callback_records"}) {
    element records;
    if (tool_[group].get(records) != simdjson::SUCCESS) continue;
    const array all = list(records, table);
    if (all.begin() != all.end()) return tables_.push_back({all.begin(), all.end(), write});
  }
}

bool RocprofRecording::next() {
  while (at_ < tables_.size()) {
    Table& table = tables_[at_];
    if (table.next != table.end) {
      (this->*table.write)(*table.next);
      ++table.next;
      return true;
    }
    ++at_;
  }
  return false;
}

void RocprofRecording::read_agents() {
  std::int64_t gpus = 0;
  for (const element& agent : list(tool_, "agents")) {
    Agent& out = agents_[handle(agent, "id", -1)];
    out.type = number_or(agent, "type", 0);
    out.wave = std::clamp<std::int64_t>(number_or(agent, "wave_front_size", kWave), 1, 1024);
    out.cus = number_or(agent, "cu_count", 0);
    if (out.type == kGpuAgent) out.number = number(agent, "logical_node_type_id").value_or(gpus++);
  }
}

void RocprofRecording::read_texts() {
  element strings;
  if (tool_["strings"].get(strings) == simdjson::SUCCESS) {
    for (const element& kind : list(strings, "buffer_records")) {
      auto& operations = operations_.emplace_back(text(kind, "kind"), std::vector<std::string_view>()).second;
      for (const element& name : list(kind, "operations")) {
        std::string_view value;
        operations.push_back(name.get(value) == simdjson::SUCCESS ? value.substr(0, kLongestName) : std::string_view());
      }
    }
    for (const element& marker : list(strings, "marker_api"))
      if (const auto id = number(marker, "key")) markers_[*id] = text(marker, "value");
  }
  for (const element& symbol : list(tool_, "kernel_symbols"))
    if (const auto id = number(symbol, "kernel_id")) kernels_.insert_or_assign(*id, kernel_of(symbol));
}

// Once for all its dispatches: what an object holds is looked for from its begin on.
RocprofRecording::Kernel RocprofRecording::kernel_of(const element& symbol) {
  Kernel out;
  for (const char* which : {"formatted_kernel_name", "demangled_kernel_name", "kernel_name"})
    if (out.name.empty()) out.name = text(symbol, which);
  const auto count = [&](std::string_view key) { return std::clamp<std::int64_t>(number_or(symbol, key, 0), 0, 1 << 20); };
  out.vgprs = count("arch_vgpr_count");
  out.accumulation = count("accum_vgpr_count");
  out.sgprs = number_or(symbol, "sgpr_count", 0);
  return out;
}

std::string_view RocprofRecording::operation(const element& record) const {
  const auto kind = number(record, "kind"), at = number(record, "operation");
  if (!kind || !at || *kind < 0 || static_cast<std::size_t>(*kind) >= operations_.size()) return {};
  const auto& names = operations_[static_cast<std::size_t>(*kind)].second;
  return *at >= 0 && static_cast<std::size_t>(*at) < names.size() ? names[static_cast<std::size_t>(*at)] : std::string_view();
}

std::int64_t RocprofRecording::correlation(const element& r) const {
  element id;
  const std::int64_t own = r["correlation_id"].get(id) == simdjson::SUCCESS ? number_or(id, "internal", 0) : 0;
  return own <= 0 ? 0 : own | static_cast<std::int64_t>(order_) << kCorrelationShift;
}

KinetoPlace RocprofRecording::thread(const element& r) {
  const std::int64_t id = number_or(r, "thread_id", 0);
  const auto [at, is_new] = threads_.try_emplace(id);
  if (is_new) at->second = std::to_string(id);
  return {key_, at->second};
}

KinetoPlace RocprofRecording::queue(std::int64_t gpu, std::int64_t queue) {
  const auto [at, is_new] = queues_.try_emplace({gpu, queue});
  Queue& out = at->second;
  if (is_new) {
    out.pid = std::to_string(gpu);
    const std::string own = queue < 0 ? "copies" : fmt::format("queue {}", queue);
    out.tid = order_ == 0 && queue >= 0 ? std::to_string(queue)
              : order_ == 0             ? "\"copies\""
                                        : fmt::format("\"{} of process {}\"", own, pid_);
    out.name = order_ == 0 ? own : fmt::format("{} of process {}", own, pid_);
  }
  return {out.pid, out.tid};
}

const RocprofRecording::Agent& RocprofRecording::agent(std::int64_t id) const {
  static const Agent kNone;
  const auto at = agents_.find(id);
  return at == agents_.end() ? kNone : at->second;
}

void RocprofRecording::dispatch(const element& r) {
  element info;
  if (r["dispatch_info"].get(info) != simdjson::SUCCESS) return;
  const auto symbol = kernels_.find(number_or(info, "kernel_id", -1));
  const std::string_view name = symbol == kernels_.end() ? std::string_view() : symbol->second.name;
  const Agent& on = agent(handle(info, "agent_id", -1));
  const std::int64_t queue_id = handle(info, "queue_id", 0);
  events_.slice("kernel", name.empty() ? "kernel without a name" : name, queue(on.number, queue_id), begin(r), length(r));
  events_.arg("device", on.number);
  const std::int64_t stream = handle(r, "stream_id", queue_id);
  events_.arg("stream", stream < 0 ? queue_id : stream);
  events_.arg("queue", queue_id);
  if (const std::int64_t id = correlation(r); id != 0) events_.arg("correlation", id);
  const auto items = three(info, "grid_size"), block = three(info, "workgroup_size");
  const std::array<std::int64_t, 3> grid = {ceil_div(items[0], block[0]), ceil_div(items[1], block[1]),
                                            ceil_div(items[2], block[2])};
  const auto size = [](const auto& of) {
    return static_cast<double>(of[0]) * static_cast<double>(of[1]) * static_cast<double>(of[2]);
  };
  if (symbol != kernels_.end()) {
    const Kernel& kernel = symbol->second;
    events_.arg("registers per thread", kernel.vgprs + kernel.accumulation);
    events_.arg("VGPRs", kernel.vgprs);
    events_.arg("accumulation VGPRs", kernel.accumulation);
    events_.arg("SGPRs", kernel.sgprs);
  }
  events_.arg("shared memory", number_or(info, "group_segment_size", 0));  // LDS
  if (on.cus > 0 && size(grid) > 0) {
    events_.arg("blocks per SM", size(grid) / static_cast<double>(on.cus));
    events_.arg("warps per SM", size(grid) / static_cast<double>(on.cus) * size(block) / static_cast<double>(on.wave));
  }
  events_.arg("grid", {grid[0], grid[1], grid[2]});
  events_.arg("block", {block[0], block[1], block[2]});
  if (const std::int64_t scratch = number_or(info, "private_segment_size", 0); scratch != 0)
    events_.arg("scratch memory per thread", scratch);
  events_.end();
}

void RocprofRecording::copy(const element& r) {
  const std::int64_t from = handle(r, "src_agent_id", -1), to = handle(r, "dst_agent_id", -1);
  const Agent &source = agent(from), &target = agent(to);
  const bool from_gpu = source.type == kGpuAgent, to_gpu = target.type == kGpuAgent;
  const std::string_view kind = from_gpu && to_gpu && from != to ? "PtoP"
                                : from_gpu && to_gpu             ? "DtoD"
                                : to_gpu                         ? "HtoD"
                                : from_gpu                       ? "DtoH"
                                                                 : "HtoH";
  const std::string name = fmt::format("Memcpy {} ({} -> {})", kind, from_gpu ? "Device" : "Host", to_gpu ? "Device" : "Host");
  const std::int64_t gpu = to_gpu && !from_gpu ? target.number : from_gpu ? source.number : 0;
  events_.slice("gpu_memcpy", name, queue(gpu, -1), begin(r), length(r));
  events_.arg("device", gpu);
  events_.arg("stream", handle(r, "stream_id", 0));
  if (const std::int64_t id = correlation(r); id != 0) events_.arg("correlation", id);
  if (const auto bytes = number(r, "bytes")) events_.arg("bytes", *bytes);
  if (from_gpu && to_gpu && from != to) {
    events_.arg("fromDevice", source.number);
    events_.arg("toDevice", target.number);
  }
  events_.end();
}

void RocprofRecording::call(const element& r) {
  const std::string_view name = operation(r);
  events_.slice(name.starts_with("hsa")   ? "cuda_driver"
                : name.starts_with("hip") ? "cuda_runtime"
                                          : "library",
                name.empty() ? "call without a name" : name, thread(r), begin(r), length(r));
  if (const std::int64_t id = correlation(r); id != 0) events_.arg("correlation", id);
  events_.end();
}

void RocprofRecording::marker(const element& r) {
  element id;
  const auto text =
      r["correlation_id"].get(id) == simdjson::SUCCESS ? markers_.find(number_or(id, "internal", -1)) : markers_.end();
  if (text == markers_.end()) return call(r);
  if (length(r).value_or(0) > 0 && operation(r).find("Mark") == std::string_view::npos)
    events_.slice("user_annotation", text->second, thread(r), begin(r), length(r));
  else
    events_.instant("user_annotation", text->second, thread(r), begin(r));
  events_.end();
}

void RocprofRecording::allocation(const element& r) {
  const Agent& on = agent(handle(r, "agent_id", -1));
  const bool is_free = operation(r).ends_with("FREE");
  if (on.type != kGpuAgent && !is_free) return;
  const std::int64_t address = number(r, "address").value_or(handle(r, "address", 0));
  std::int64_t bytes = number_or(r, "allocation_size", 0), total = 0;
  std::int64_t gpu = on.number;
  if (is_free) {
    const auto at = allocations_.find(address);
    if (at == allocations_.end()) return;
    gpu = at->second.first;
    bytes = -at->second.second;
    allocations_.erase(at);
  } else {
    if (bytes < 0) return;
    allocations_[address] = {gpu, bytes};
  }
  if (__builtin_add_overflow(allocated_[gpu], bytes, &total)) return;
  allocated_[gpu] = total;
  events_.instant("cpu_instant_event", "[memory]", thread(r), begin(r));
  events_.arg("Device Type", 1);
  events_.arg("Device Id", gpu);
  events_.arg("Addr", address);
  events_.arg("Bytes", bytes);
  events_.arg("Total Allocated", total);
  events_.arg("Total Reserved", total);
  events_.end();
}

void RocprofRecording::write_names() {
  const KinetoPlace host{key_, "0"};
  if (!program_.empty()) events_.name("process_name", host, "name", program_);
  events_.name("process_labels", host, "labels", "CPU");
  events_.sort_index("process_sort_index", host, pid_);
  for (const auto& [id, tid] : threads_)
    events_.name("thread_name", {key_, tid}, "name",
                 id == pid_ && !program_.empty() ? fmt::format("thread {} ({})", id, program_) : fmt::format("thread {}", id));
  for (const auto& [queue, place] : queues_) {
    events_.name("thread_name", {place.pid, place.tid}, "name", place.name);
    events_.name("process_labels", {place.pid, "0"}, "labels", fmt::format("GPU {}", queue.first));
    events_.sort_index("process_sort_index", {place.pid, "0"}, kGpuSort + std::clamp<std::int64_t>(queue.first, 0, 4096));
  }
}

void RocprofRecording::write_gpus(std::set<std::int64_t>& known, std::string& out) const {
  for (const element& agent : list(tool_, "agents")) {
    if (number_or(agent, "type", 0) != kGpuAgent) continue;
    const std::int64_t id = this->agent(handle(agent, "id", -1)).number;
    const bool is_first = known.empty();
    if (!known.insert(id).second) continue;
    const std::int64_t simds = number_or(agent, "simd_per_cu", 0), waves = number_or(agent, "max_waves_per_simd", 0),
                       wave = number_or(agent, "wave_front_size", kWave), target = number_or(agent, "gfx_target_version", 0);
    const std::int64_t lds = std::clamp<std::int64_t>(number_or(agent, "lds_size_in_kb", 0), 0, 1 << 20) << 10;
    out += fmt::format("{}\n{{\"id\":{},\"name\":", is_first ? "" : ",", id);
    const std::string_view product = text(agent, "product_name");
    append_json_string(out, product.empty() ? text(agent, "name") : product);
    out += fmt::format(",\"computeMajor\":{},\"computeMinor\":{},\"warpSize\":{},\"numSms\":{}", target / 10'000,
                       target / 100 % 100, wave, number_or(agent, "cu_count", 0));
    const auto small = [](std::int64_t n) { return n > 0 && n < 4096; };
    if (small(simds) && small(waves) && small(wave))
      out += fmt::format(",\"maxThreadsPerMultiprocessor\":{},\"regsPerMultiprocessor\":{}", simds * waves * wave,
                         simds * wave * (target >= kGfx90a && target < kGfx10 ? 512 : 256));
    out += fmt::format(",\"maxThreadsPerBlock\":{},\"sharedMemPerBlock\":{},\"sharedMemPerMultiprocessor\":{},\"gfx\":",
                       number_or(agent, "workgroup_max_size", 0), lds, lds);
    append_json_string(out, text(agent, "name"));
    out += '}';
  }
}

}  // namespace gapscope
