#include "core/analyze/counters/gpu_counters.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "core/analyze/counters/kernel_places.h"
#include "core/index/lane_index.h"
#include "core/index/link_index.h"
#include "tests/support/load_text.h"

using namespace gapscope;
using Q = CounterKind;

namespace {

std::string counter(double us, const char* name, const char* args) {
  return ",\n{\"ph\": \"C\", \"cat\": \"hardware_counters\", \"name\": \"" + std::string(name) +
         "\", \"pid\": 0, \"ts\": " + std::to_string(us) + ", \"args\": {" + args + "}}";
}

std::string kernel(double us, double dur, const char* name) {
  return ",\n{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"" + std::string(name) +
         "\", \"pid\": 0, \"tid\": 7, \"ts\": " + std::to_string(us) + ", \"dur\": " + std::to_string(dur) +
         ", \"args\": {\"device\": 0, \"stream\": 7, \"correlation\": 1}}";
}

// 100 samples of 20 us from 1000 us on; from 2000 us, 10 are missing; then 50 more.
std::string sampled() {
  std::string text = R"({"ph": "M", "name": "process_labels", "pid": 0, "tid": 0, "args": {"labels": "GPU 0"}})";
  text += counter(1000, "Counter sampling", "\"interval us\": 20");
  text += counter(2000, "Counter sampling", "\"interval us\": 0");
  text += counter(2200, "Counter sampling", "\"interval us\": 20");
  text += counter(3200, "Counter sampling", "\"interval us\": 0");
  text += counter(1000, "SM", "\"active %\": 100, \"tensor pipe %\": 90");
  text += counter(1500, "SM", "\"active %\": 50, \"tensor pipe %\": 0");
  text += counter(2200, "SM", "\"active %\": 20, \"tensor pipe %\": 1");
  text += counter(1000, "DRAM", "\"read GB/s\": 100, \"write GB/s\": 0, \"of peak %\": 2");
  text += counter(1500, "DRAM", "\"read GB/s\": 2000, \"write GB/s\": 2000, \"of peak %\": 85");
  text += counter(2200, "DRAM", "\"read GB/s\": 0, \"write GB/s\": 0, \"of peak %\": 0");
  text += counter(1000, "GPU power", "\"W\": 400");
  text += counter(2000, "GPU power", "\"W\": 600");
  for (const int at : {1000, 1410, 1590, 1950})
    text += counter(at, "GPU temperature", ("\"C\": " + std::to_string(at % 90)).c_str());
  text += kernel(1010, 200, "gemm") + kernel(1210, 200, "gemm");
  text += kernel(1600, 300, "add");
  text += kernel(2250, 8, "tiny") + kernel(2300, 10, "many") + kernel(2310, 10, "many") + kernel(2320, 30, "many");
  return text;
}

constexpr Ns us(std::int64_t n) { return n * 1000; }

}  // namespace

TEST_CASE("means over a span, its samples and its energy") {
  const auto trace = test::load_text(test::events(sampled()));
  const std::vector<DeviceCounters> all = gpu_counters(*trace);
  REQUIRE(all.size() == 1);
  const CounterMeans means = all[0].over({us(1400), us(1600)});
  CHECK(means[Q::sm_active] == doctest::Approx(75));
  CHECK(means[Q::tensor] == doctest::Approx(45));
  CHECK(means[Q::dram_read] == doctest::Approx(1050));
  CHECK(means.samples == doctest::Approx(10));
  CHECK(means.joules == doctest::Approx(400 * 200e-6));
  CHECK_FALSE(means.knows(Q::nvlink_sent));
  CHECK(all[0].over({us(1900), us(2100)}).joules == doctest::Approx(0.1));
}

TEST_CASE("what the driver reported less than twice in a span is not stated") {
  const auto trace = test::load_text(test::events(sampled()));
  const DeviceCounters device(*trace, 0);
  const CounterMeans twice = device.over({us(1400), us(1600)}), once = device.over({us(1500), us(1600)});
  CHECK(twice.readings == 2);
  CHECK(twice[Q::watts] == doctest::Approx(400));
  CHECK(once.readings == 1);
  CHECK_FALSE(once.knows(Q::watts));
  CHECK(std::isnan(once.joules));
  CHECK(once.knows(Q::sm_active));
  CHECK(device.over({us(1000), us(2100)}).readings == 5);  // power and temperature at one time are one reading
}

TEST_CASE("where nothing was sampled the counters say nothing") {
  const auto trace = test::load_text(test::events(sampled()));
  const DeviceCounters device(*trace, 0);
  const CounterMeans across = device.over({us(1900), us(2300)});
  CHECK(across.covered == us(200));
  CHECK(across.samples == doctest::Approx(10));
  CHECK(across[Q::sm_active] == doctest::Approx(35));  // 50 and 20, for 100 us each
  const CounterMeans hole = device.over({us(2010), us(2190)});
  CHECK(std::isnan(hole[Q::sm_active]));
  CHECK_FALSE(hole.measured());
  CHECK_FALSE(hole.knows(Q::watts));
  CHECK(std::isnan(device.over({us(0), us(900)})[Q::watts]));
  CHECK_FALSE(device.over({us(1500), us(1530)}).measured());
  CHECK_FALSE(device.over({us(1500), us(1500)}).measured());
  CHECK(DeviceCounters(*trace, 1).empty());
}

TEST_CASE("the word about sampling may be cut off") {
  std::string text =
      counter(1000, "SM", "\"active %\": 1") + counter(1020, "SM", "\"active %\": 3") + counter(1060, "SM", "\"active %\": 5");
  const auto trace =
      test::load_text(test::events(R"({"ph": "M", "name": "process_labels", "pid": 0, "tid": 0, "args": {"labels": "GPU 0"}})" +
                                   text + kernel(1000, 50, "k")));
  const DeviceCounters device(*trace, 0);
  CHECK(device.over({us(1000), us(1080)}).samples == doctest::Approx(4));
  CHECK(device.over({us(1000), us(1080)})[Q::sm_active] == doctest::Approx(3));  // 1, 3, 3, 5
}

TEST_CASE("where the word that sampling ends was cut off it lasts to the last sample") {
  std::string text = counter(1000, "Counter sampling", "\"interval us\": 20") + counter(1000, "SM", "\"active %\": 10") +
                     counter(1100, "SM", "\"active %\": 30");
  const auto trace =
      test::load_text(test::events(R"({"ph": "M", "name": "process_labels", "pid": 0, "tid": 0, "args": {"labels": "GPU 0"}})" +
                                   text + kernel(1000, 50, "k")));
  const CounterMeans means = DeviceCounters(*trace, 0).over({us(0), us(5000)});
  CHECK(means.samples == doctest::Approx(6));
  CHECK(means[Q::sm_active] == doctest::Approx((5 * 10 + 30) / 6.0));
}

TEST_CASE("in a part of a file, values that are not known yet count for nothing") {
  std::string text = counter(500, "Counter sampling", "\"interval us\": 20") + counter(1000, "SM", "\"active %\": 10") +
                     counter(1100, "SM", "\"active %\": 30") + counter(1200, "Counter sampling", "\"interval us\": 0");
  const auto trace =
      test::load_text(test::events(R"({"ph": "M", "name": "process_labels", "pid": 0, "tid": 0, "args": {"labels": "GPU 0"}})" +
                                   text + kernel(1000, 50, "k")));
  const CounterMeans means = DeviceCounters(*trace, 0).over({us(0), us(5000)});
  CHECK(means.samples == doctest::Approx(10));
  CHECK(means[Q::sm_active] == doctest::Approx(20));
}

TEST_CASE("a kernel's place, and launches that are measured together") {
  const auto trace = test::load_text(test::events(sampled()));
  const LaneIndex lanes(*trace);
  const LinkIndex links(*trace, lanes);
  const std::vector<MeasuredKernel> kernels = measure_kernels(*trace, gpu_ops(*trace, links), gpu_counters(*trace));
  REQUIRE(kernels.size() == 4);
  const auto named = [&](std::string_view name) {
    for (const MeasuredKernel& k : kernels)
      if (trace->strings[k.name] == name) return k;
    return MeasuredKernel{};
  };
  CHECK(kernels[0].time == us(400));  // the longest first
  CHECK(named("gemm").place == KernelPlace::tensor_bound);
  CHECK(named("gemm").pooled == 2);
  CHECK(named("gemm").means.samples == doctest::Approx(20));
  CHECK(named("add").place == KernelPlace::memory_bound);
  CHECK(named("tiny").place == KernelPlace::unmeasured);
  CHECK(named("tiny").pooled == 0);
  CHECK(named("many").place == KernelPlace::latency_bound);
  CHECK(named("many").pooled == 3);
}

TEST_CASE("a trace without counters has none") {
  const auto trace = test::load_text(test::events(kernel(1, 2, "k").substr(2)));
  CHECK(gpu_counters(*trace).empty());
}
