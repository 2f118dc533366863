#include "app/sampler/counters/counter_text.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "app/sampler/event_writer.h"
#include "core/analyze/counters/gpu_counters.h"
#include "core/load/load_trace.h"
#include "core/load/merge_counters.h"
#include "tests/support/temp_folder.h"

using namespace gapscope::sampler;

namespace {

constexpr Ns kBegin = 1'735'700'000'000'000'000;
constexpr Ns kInterval = 20'000;

CounterReading reading_at(Ns time, double active, double dram = 0) {
  CounterReading reading;
  reading.times = {time, time + kInterval};
  reading[Quantity::sm_active] = active;
  reading[Quantity::dram_read] = dram;
  return reading;
}

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TraceInfo info() {
  TraceInfo i;
  i.base = base_time(kBegin);
  return i;
}

}  // namespace

TEST_CASE("a counter is written where it changes, with the quantities that were measured alone") {
  CounterText counters;
  std::string text;
  for (int i = 0; i < 5; ++i) counters.add(text, info(), reading_at(kBegin + i * kInterval, i < 3 ? 12.345 : 100, 7));
  CHECK(count(text, "\"name\": \"SM\"") == 2);
  CHECK(count(text, "\"name\": \"DRAM\"") == 1);
  CHECK(count(text, "PCIe") == 0);
  CHECK(text.find(R"("args": {"active %": 12.35})") != std::string::npos);
  CHECK(text.find(R"("args": {"active %": 100})") != std::string::npos);
  CHECK(text.find(R"("args": {"interval us": 20})") != std::string::npos);
  CHECK(counters.samples() == 5);
  CHECK(counters.lost() == 0);
}

TEST_CASE("where samples are missing the sampling is off, and their number is kept") {
  CounterText counters;
  std::string text;
  counters.add(text, info(), reading_at(kBegin, 50));
  counters.add(text, info(), reading_at(kBegin + 11 * kInterval, 50));
  counters.finish(text, info());
  CHECK(counters.lost() == 10);
  CHECK(count(text, R"("interval us": 0})") == 2);  // in the hole, and at the end
  CHECK(count(text, R"("interval us": 20})") == 2);
  CHECK(count(text, "\"name\": \"SM\"") == 2);  // said again after the hole, though it is the same
}

TEST_CASE("readings that come twice or too late are left out") {
  CounterText counters;
  std::string text;
  counters.add(text, info(), reading_at(kBegin + kInterval, 50));
  counters.add(text, info(), reading_at(kBegin, 60));
  CHECK(counters.samples() == 1);
  CHECK(text.find("60") == std::string::npos);
}

TEST_CASE("a sample that begins a little before the last one ended follows it without a hole") {
  CounterText counters;
  std::string text;
  counters.add(text, info(), reading_at(kBegin, 50));
  counters.add(text, info(), reading_at(kBegin + kInterval - 40, 60));
  counters.finish(text, info());
  CHECK(counters.samples() == 2);
  CHECK(counters.lost() == 0);
  CHECK(count(text, R"("interval us": 0})") == 1);
}

TEST_CASE("NVML's readings: what it does not say is left out") {
  CounterText counters;
  std::string text;
  HealthReading reading;
  reading.time = kBegin;
  reading.watts = 312.44;
  reading.knows_throttling = reading.throttled_by_power = true;
  counters.add(text, info(), reading);
  CHECK(text.find(R"("name": "GPU power")") != std::string::npos);
  CHECK(text.find(R"({"W": 312.4})") != std::string::npos);
  CHECK(text.find(R"({"by power": 1, "by heat": 0})") != std::string::npos);
  CHECK(text.find("temperature") == std::string::npos);
}

TEST_CASE("a recording with counters opens, and has them under its GPU") {
  gapscope::test::TempFolder folder;
  gapscope::RecordingOptions options;
  options.out = (folder.path() / "r.json.gz").string();
  EventWriter writer(options, {info, [](std::uint32_t) { return std::string("worker"); }});
  writer.add(Call{{kBegin, kBegin + 4'000}, "cudaLaunchKernel", false, 211, 20, 1});
  Kernel kernel;
  kernel.times = {kBegin + 10'000, kBegin + 90'000};
  kernel.place = {0, 1, 7, 1, 0, 0};
  kernel.name = "k";
  kernel.grid = kernel.block = {1, 1, 1};
  writer.add(kernel);
  for (int i = 0; i < 4; ++i) writer.add_counters(reading_at(kBegin + i * kInterval, 10.0 * i, 5));
  writer.finish(kBegin + 1'000'000);
  const auto trace = gapscope::load_trace(options.out);
  REQUIRE(trace.ok());
  CHECK((*trace)->report.entries().empty());
  const gapscope::Counter* active = nullptr;
  for (const gapscope::Counter& counter : (*trace)->counters)
    if ((*trace)->strings[counter.series] == "active %") active = &counter;
  REQUIRE(active);
  CHECK((*trace)->processes[active->process.index()].device == 0);
  CHECK(active->samples.size() == 4);
  CHECK(active->samples[3].value == 30);
}

TEST_CASE("a recording of counters alone is kept, and opens as the GPU's") {
  gapscope::test::TempFolder folder;
  gapscope::RecordingOptions options;
  options.out = (folder.path() / "c.json.gz").string();
  options.counters = options.counters_only = true;
  EventWriter writer(options, {info, [](std::uint32_t) { return std::string("worker"); }});
  for (int i = 0; i < 4; ++i) writer.add_counters(reading_at(kBegin + i * kInterval, 10.0 * i, 5));
  writer.finish(kBegin + 1'000'000);
  const auto trace = gapscope::load_trace(options.out);
  REQUIRE(trace.ok());
  CHECK((*trace)->report.entries().empty());
  CHECK(gapscope::holds_counters_alone(**trace));
  const gapscope::Process& process = (*trace)->processes.at((*trace)->counters.at(0).process.index());
  CHECK(process.is_gpu);
  CHECK(process.device == 0);
  CHECK(gapscope::gpu_counters(**trace).at(0).over((*trace)->span).measured());
}

TEST_CASE("of counters alone nothing is left where none came") {
  gapscope::test::TempFolder folder;
  gapscope::RecordingOptions options;
  options.out = (folder.path() / "c.json.gz").string();
  options.counters = options.counters_only = true;
  EventWriter writer(options, {info, [](std::uint32_t) { return std::string("worker"); }});
  writer.finish(kBegin);
  CHECK(std::filesystem::is_empty(folder.path()));
}
