// Any records, made of what libFuzzer finds, in any order and with any names and numbers: what the recorder writes of them is
// JSON that loads.
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <list>

#include <nlohmann/json.hpp>

#include "app/sampler/event_writer.h"
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
  // Mostly near one another, as times are; now and then anything.
  Ns time() {
    const auto near = take<std::uint16_t>();
    return near % 16 == 15 ? take<Ns>() : now_ += near * 1'000;
  }
  Times times() {
    const Ns a = time(), b = time();
    return {std::min(a, b), std::max(a, b)};
  }
  GpuPlace place() {
    return {take<std::int8_t>(),  take<std::int8_t>(),  take<std::int8_t>(),
            take<std::uint8_t>(), take<std::uint8_t>(), take<std::uint8_t>()};
  }
  Ns now() const { return now_; }

 private:
  const unsigned char* data_;
  std::size_t left_;
  std::list<std::string> names_;
  Ns now_ = 1'795'000'000'000'000'000;
};

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

void check(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text.find('\0') != std::string::npos || !nlohmann::json::accept(text) ||
      !gapscope::load_trace_from_text(text, "recording").ok())
    std::abort();
  if (text.find("\n,{") != text.find("\n,")) std::abort();  // an event is a line: what a killed writer left is cut at one
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
  while (!bytes.empty()) {
    writer.add(record_of(bytes));
    if (bytes.take<std::uint8_t>() % 8 == 0) writer.flush(bytes.now());
  }
  if (how & 4)
    writer.finish_short();
  else
    writer.finish(bytes.now());
  if (writer.path().empty()) return 0;
  check(writer.path());
  std::filesystem::remove(writer.path());
  return 0;
}
