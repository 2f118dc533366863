// Any records, made of what libFuzzer finds, in any order and with any names and numbers: what the recorder writes of them is
// JSON that loads, and holds every record as it was: its name, its times, where and how a kernel ran. Where only a part was
// asked for, or there was no memory for the rest, it holds nothing else.
#include <algorithm>
#include <compare>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <list>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/sampler/call_names.h"
#include "app/sampler/event_text.h"
#include "app/sampler/event_writer.h"
#include "app/sampler/kineto_text.h"
#include "core/base/saturating.h"
#include "core/load/load_trace.h"
#include "tests/support/temp_folder.h"

namespace {

using namespace gapscope::sampler;

// Values and names from the bytes; zeros when they are used up.
class Bytes {
 public:
  Bytes(const unsigned char* data, std::size_t size) : data_(data), left_(size) {}
  bool empty() const { return left_ == 0; }
  template <class Value>
  Value take() {
    Value value{};
    const std::size_t n = std::min(left_, sizeof value);
    std::memcpy(&value, data_, n);
    data_ += n;
    left_ -= n;
    return value;
  }
  // Any bytes; they live as long as this.
  std::string_view text() {
    const std::size_t n = std::min<std::size_t>(left_, take<std::uint8_t>() % 64);
    const std::size_t length = std::min(n, left_);
    names_.emplace_back(reinterpret_cast<const char*>(data_), length);
    data_ += length;
    left_ -= length;
    return names_.back();
  }
  // Nearly always near one another, as times are; now and then anything.
  Ns time() {
    const auto near = take<std::uint16_t>();
    return near % 128 == 127 ? take<Ns>() : now_ += near * 1'000;
  }
  // Of any length where they come after all before; else short: what lasts long past other work of its stream has an
  // impossible duration, which a reader cuts off.
  Times times() {
    constexpr Ns kShort = 20'000;
    const Ns before = now_, a = time(), b = time(), begin = std::min(a, b), end = std::max(a, b);
    return {begin, begin >= before && end == now_ ? end : std::min(end, gapscope::sum_saturating(begin, kShort))};
  }
  GpuPlace place() {
    const int device = take<std::uint8_t>() % 128;  // no GPU has a negative number, and a reader takes them all for none
    return {device, take<std::int8_t>(), take<std::int8_t>(), take<std::uint8_t>(), take<std::uint8_t>(), take<std::uint8_t>()};
  }
  Ns now() const { return now_; }

 private:
  const unsigned char* data_;
  std::size_t left_;
  std::list<std::string> names_;
  Ns now_ = 1'795'000'000'000'000'000;
};

// Slices by their category and times.
struct Key {
  std::string category;
  Ns begin = 0, end = 0;
  friend auto operator<=>(const Key&, const Key&) = default;
};
using Slices = std::map<Key, std::multiset<std::string>>;  // their names, with what else was seen of them
constexpr std::string_view kAnyName = "\xFF";              // what is no UTF-8 is replaced: which way is not asked here

// What was seen, as a trace should hold it.
class Expected {
 public:
  explicit Expected(Ns base) : base_(base) {}

  void add(const Seen& seen) {
    if (const auto* call = std::get_if<Call>(&seen); call && !is_left_out(call->name, call->driver))
      add(call->driver ? "cuda_driver" : "cuda_runtime", call->times, call->name, std::to_string(call->correlation));
    if (const auto* k = std::get_if<Kernel>(&seen)) add("kernel", k->times, k->name, how_it_ran(*k));
    if (const auto* copy = std::get_if<Copy>(&seen)) add("gpu_memcpy", copy->times, kAnyName, bytes_text(copy->bytes));
    if (const auto* fill = std::get_if<Fill>(&seen)) add("gpu_memset", fill->times, kAnyName, bytes_text(fill->bytes));
    if (const auto* sync = std::get_if<Sync>(&seen))
      add("cuda_sync", sync->times, kAnyName, std::to_string(sync->place.correlation));
    if (const auto* overhead = std::get_if<Overhead>(&seen)) add("overhead", overhead->times, kAnyName, {});
    if (const auto* marker = std::get_if<Marker>(&seen)) add(*marker);
  }
  // Ranges that are open yet end now.
  void finish(Ns now) {
    for (const auto& [id, begin] : open_) add_range(begin, now);
    open_.clear();
  }
  const Slices& slices() const { return slices_; }

  static std::string how_it_ran(std::int64_t device, std::int64_t stream, std::uint64_t correlation, std::uint64_t registers,
                                std::uint64_t graph, std::uint64_t node) {
    return fmt::format("{} {} {} {} {} {}", device, stream, correlation, registers, graph, graph == 0 ? 0 : node);
  }

  // No GPU has as many as 63 bits count, and a reader need not distinguish them.
  static std::string bytes_text(std::uint64_t bytes) { return std::to_string(bytes > INT64_MAX ? 0 : bytes); }

 private:
  static std::string how_it_ran(const Kernel& k) {
    return how_it_ran(k.place.device, k.place.stream, k.place.correlation, k.registers, k.place.graph_id,
                      k.place.graph_node_id);
  }
  void add(std::string_view category, const Times& times, std::string_view name, const std::string& more) {
    const Ns begin = std::max<Ns>(0, minus(times.begin, base_));
    Key key{std::string(category), begin, gapscope::sum_saturating(begin, minus(times.end, times.begin))};
    slices_[std::move(key)].insert(fmt::format("{}\n{}", is_utf8(name) ? name : kAnyName, more));
  }
  void add(const Marker& marker) {
    const auto at = open_.find(marker.id);
    if (marker.what == Marker::What::begin) open_.insert_or_assign(marker.id, marker);  // the end of one that was open is lost
    if (marker.what != Marker::What::end || at == open_.end()) return;
    add_range(at->second, marker.time);
    open_.erase(at);
  }
  // An operator's name may end with its args.
  void add_range(const Marker& begin, Ns end) {
    const bool is_operator = begin.domain == kOperators;
    add(is_operator ? "cpu_op" : "user_annotation", {begin.time, std::max(begin.time, end)},
        is_operator ? kAnyName : begin.name, {});
  }
  static bool is_utf8(std::string_view text) {
    try {
      return !nlohmann::json(text).dump().empty();
    } catch (const nlohmann::json::exception&) {
      return false;
    }
  }

  const Ns base_;
  Slices slices_;
  std::map<std::uint32_t, Marker> open_;  // by id
};

Slices slices_of(const gapscope::Trace& trace) {
  Slices slices;
  for (std::size_t i = 0; i < trace.slice_count(); ++i) {
    const gapscope::SliceId s(i);
    std::string more;
    const gapscope::GpuRow* row = trace.gpu_row(s);
    const std::string_view category = trace.category_name(s);
    if (category == "kernel" && row != nullptr)
      more =
          Expected::how_it_ran(row->device, row->stream, row->correlation, row->registers, row->graph_id, row->graph_node_id);
    if ((category == "gpu_memcpy" || category == "gpu_memset") && row != nullptr) more = Expected::bytes_text(row->bytes);
    if (category == "cuda_sync" && row != nullptr) more = std::to_string(row->correlation);
    if (category.starts_with("cuda_") && category != "cuda_sync")
      more = std::to_string(trace.call(s) != nullptr ? trace.call(s)->correlation : 0);
    slices[{std::string(category), trace.begin(s), trace.end(s)}].insert(fmt::format("{}\n{}", trace.name(s), more));
  }
  return slices;
}

// Takes out of both what is in both: first by name, then those whose name is not asked for.
void take_pairs(Slices& found, Slices& expected) {
  for (const bool by_name : {true, false})
    for (auto& [key, names] : expected)
      std::erase_if(names, [&, &there = found[key]](const std::string& name) {
        if (!by_name && !name.starts_with(kAnyName)) return false;
        const auto at = std::find_if(there.begin(), there.end(), [&](const std::string& is) {
          return by_name ? is == name : is.substr(is.rfind('\n')) == name.substr(name.rfind('\n'));
        });
        if (at == there.end()) return false;
        there.erase(at);
        return true;
      });
  for (Slices* slices : {&found, &expected}) std::erase_if(*slices, [](const auto& entry) { return entry.second.empty(); });
}

// The recorder's own: the GPU's side of ranges, and the span of the whole.
bool is_own(const std::string& category) { return category == "gpu_user_annotation" || category == "Trace"; }

Seen record_of(Bytes& bytes) {
  constexpr std::string_view kCalls[] = {"cudaLaunchKernel", "cuLaunchKernel", "cudaProfilerStart", "cudaProfilerStop",
                                         "cudaStreamSynchronize"};
  switch (bytes.take<std::uint8_t>() % 9) {
    case 0: {
      const auto which = bytes.take<std::uint8_t>() % 6u;
      return Call{bytes.times(),
                  which < 5 ? kCalls[which] : bytes.text(),
                  which == 1,
                  bytes.take<std::uint8_t>(),
                  bytes.take<std::uint8_t>(),
                  bytes.take<std::uint8_t>()};
    }
    case 1: {
      Kernel k;
      k.times = bytes.times();
      k.place = bytes.place();
      k.name = bytes.text();
      k.registers = bytes.take<std::uint32_t>();
      k.static_shared = bytes.take<std::uint32_t>();
      k.dynamic_shared = bytes.take<std::uint32_t>();
      k.grid = bytes.take<std::array<std::int32_t, 3>>();
      k.block = bytes.take<std::array<std::int32_t, 3>>();
      k.cluster = bytes.take<std::array<std::int32_t, 3>>();
      k.queued = bytes.take<Ns>();
      k.submitted = bytes.take<Ns>();
      return k;
    }
    case 2:
      return Copy{bytes.times(),
                  bytes.place(),
                  bytes.take<std::uint8_t>(),
                  bytes.take<std::uint8_t>(),
                  bytes.take<std::uint8_t>(),
                  bytes.take<std::uint64_t>()};
    case 3: return Fill{bytes.times(), bytes.place(), bytes.take<std::uint16_t>(), bytes.take<std::uint64_t>()};
    case 4: return Sync{bytes.times(), bytes.place(), bytes.take<std::uint32_t>(), bytes.take<std::uint32_t>()};
    case 5: return Overhead{bytes.times(), bytes.take<std::uint32_t>()};
    case 6: return ContextSeen{bytes.take<std::uint8_t>(), bytes.take<std::int8_t>()};
    default: {
      Marker m;
      m.what = Marker::What(bytes.take<std::uint8_t>() % 3);
      m.time = bytes.time();
      m.id = bytes.take<std::uint8_t>() % 16;
      m.thread = bytes.take<std::uint8_t>() % 4;
      if (m.what != Marker::What::end) m.name = bytes.take<std::uint8_t>() % 4 == 0 ? std::string_view("wanted") : bytes.text();
      if (bytes.take<std::uint8_t>() % 2 == 0) m.domain = kOperators;
      return m;
    }
  }
}

TraceInfo facts() {
  TraceInfo info;
  info.process = 415;
  info.program = "a.out\xFF\"";
  info.command = "./a.out \\\n";
  info.base = base_time(1'795'000'000'000'000'000);
  info.devices = {{0, "NVIDIA H200", 150'000'000'000, 9, 0, 1024, 2048, 65536, 65536, 32, 49152, 232448, 233472, 132}};
  return info;
}

// In memory where there is such a folder: every input is a file.
const gapscope::test::TempFolder& folder() {
  if (std::filesystem::exists("/dev/shm")) setenv("TMPDIR", "/dev/shm", 1);
  static const gapscope::test::TempFolder made;
  return made;
}

// `all`: nothing was left out.
void check(const std::string& path, const Expected& expected, bool all) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text.find('\0') != std::string::npos || !nlohmann::json::accept(text)) std::abort();
  if (text.find("\n,{") != text.find("\n,")) std::abort();  // an event is a line: what a killed writer left is cut at one
  const auto trace = gapscope::load_trace_from_text(text, "recording");
  if (!trace.ok() || (*trace)->report.count(gapscope::ImportIssue::bad_event) > 0) std::abort();
  // Times of another century are no longer what they were, and the report says so.
  for (const auto issue : {gapscope::ImportIssue::absurd_time, gapscope::ImportIssue::missing_duration})
    if ((*trace)->report.count(issue) > 0) return;
  if (gapscope::find_doubt((*trace)->doubts, gapscope::DoubtKind::clock_offset) != nullptr) return;  // the GPU's times moved
  Slices found = slices_of(**trace), seen = expected.slices();
  std::erase_if(found, [](const auto& entry) { return is_own(entry.first.category); });
  take_pairs(found, seen);
  if (found.empty() && (!all || seen.empty())) return;
  for (const auto& [what, slices] : {std::pair("was never seen", &found), std::pair("is lost", &seen)})
    for (const auto& [key, names] : *slices)
      std::fprintf(stderr, "%s: %s %lld %lld %s\n", what, key.category.c_str(), static_cast<long long>(key.begin),
                   static_cast<long long>(key.end), names.begin()->c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  Bytes bytes(data, size);
  gapscope::RecordingOptions options;
  options.out = (folder().path() / "r.json").string();
  const auto how = bytes.take<std::uint8_t>();
  if (how & 1) options.range = "wanted";
  if (how & 2) options.profiler_api = true;
  EventWriter writer(options, {facts, [](std::uint32_t thread) { return "\x1B[31m" + std::to_string(thread); }});
  Expected expected(facts().base);
  while (!bytes.empty()) {
    const Seen seen = record_of(bytes);
    expected.add(seen);
    writer.add(seen);
    if (bytes.take<std::uint8_t>() % 8 == 0) writer.flush(bytes.now());
  }
  expected.finish(bytes.now());
  if (how & 4)
    writer.finish_short();
  else
    writer.finish(bytes.now());
  if (writer.path().empty()) return 0;
  check(writer.path(), expected, (how & 7) == 0);
  std::filesystem::remove(writer.path());
  return 0;
}
