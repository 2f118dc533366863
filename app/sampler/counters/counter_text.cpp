#include "app/sampler/counters/counter_text.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

namespace gapscope::sampler {
namespace {

struct Series {
  std::string_view key;  // ends with its unit
  Quantity quantity;
};
struct Event {
  std::string_view name;
  std::array<Series, 3> series;
  std::size_t count;
};
constexpr std::array kSampled = {
    Event{"SM", {{{"active %", Quantity::sm_active}, {"issue %", Quantity::sm_issue}, {"tensor pipe %", Quantity::tensor}}}, 3},
    Event{"DRAM",
          {{{"read GB/s", Quantity::dram_read}, {"write GB/s", Quantity::dram_write}, {"of peak %", Quantity::dram_share}}},
          3},
    Event{"PCIe", {{{"read GB/s", Quantity::pcie_read}, {"write GB/s", Quantity::pcie_write}}}, 2},
    Event{"NVLink", {{{"received GB/s", Quantity::nvlink_received}, {"sent GB/s", Quantity::nvlink_sent}}}, 2},
    Event{"SM clock", {{{"MHz", Quantity::sm_clock}}}, 1},
};
// The others, after those: how long a sample is (0: nothing is sampled from here on), and what NVML says.
constexpr std::size_t kSampling = kSampled.size(), kPower = kSampling + 1, kClock = kPower + 1, kHeat = kClock + 1,
                      kThrottle = kHeat + 1;
constexpr std::array<std::string_view, 5> kOthers = {"Counter sampling", "GPU power", "GPU clock", "GPU temperature",
                                                     "GPU throttled"};

std::string_view name_of(std::size_t event) {
  return event < kSampled.size() ? kSampled[event].name : kOthers[event - kSampled.size()];
}

// Nothing where it was not measured.
void append_value(std::string& out, std::string_view key, double value, int decimals) {
  if (!std::isfinite(value)) return;
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  std::string_view digits = text;
  if (digits.find('.') != std::string_view::npos) {
    while (digits.ends_with('0')) digits.remove_suffix(1);
    if (digits.ends_with('.')) digits.remove_suffix(1);
  }
  if (digits == "-0") digits = "0";
  out.append(out.empty() ? "\"" : ", \"").append(key).append("\": ").append(digits);
}

std::string interval_args(Ns interval) {
  std::string args;
  append_value(args, "interval us", static_cast<double>(interval) / 1000, 1);
  return args;
}

}  // namespace

void CounterText::put(std::string& out, const TraceInfo& info, const Place& place, std::size_t event, const std::string& args) {
  std::string& last = devices_[place.device].last[event];
  if (args.empty() || args == last) return;
  last = args;
  if (!out.empty()) out += kNextEvent;
  append_counter(out, info, name_of(event), place.device, place.time, args);
}

// What was sampled before says nothing about what follows.
void CounterText::put_off(std::string& out, const TraceInfo& info, std::int32_t id, Device& device) {
  put(out, info, {id, device.end}, kSampling, interval_args(0));
  for (std::size_t event = 0; event < kSampled.size(); ++event) device.last[event].clear();
}

void CounterText::add(std::string& out, const TraceInfo& info, const CounterReading& reading) {
  Device& device = devices_[reading.device];
  const Ns interval = reading.times.end - reading.times.begin;
  if (interval <= 0 || reading.times.begin < device.end - interval / 2) return;
  const Ns begin = std::max(reading.times.begin, device.end);  // clocks that are brought onto ours jitter by some tens of ns
  if (const Ns missing = begin - device.end; device.end != 0 && missing > device.interval / 2) {
    lost_ += static_cast<std::uint64_t>((missing + device.interval / 2) / device.interval);
    put_off(out, info, reading.device, device);
  }
  ++samples_;
  device.end = reading.times.end;
  device.interval = interval;
  const Place place{reading.device, begin};
  put(out, info, place, kSampling, interval_args(interval));
  for (std::size_t event = 0; event < kSampled.size(); ++event) {
    std::string args;
    for (std::size_t i = 0; i < kSampled[event].count; ++i)
      append_value(args, kSampled[event].series[i].key, reading[kSampled[event].series[i].quantity], 2);
    put(out, info, place, event, args);
  }
}

void CounterText::add(std::string& out, const TraceInfo& info, const HealthReading& reading) {
  const auto put_args = [&](std::size_t event, const std::string& args) {
    put(out, info, {reading.device, reading.time}, event, args);
  };
  std::string power, clock, heat, throttle;
  append_value(power, "W", reading.watts, 1);
  append_value(clock, "SM MHz", reading.sm_mhz, 0);
  append_value(clock, "memory MHz", reading.memory_mhz, 0);
  append_value(heat, "C", reading.celsius, 0);
  if (reading.knows_throttling) {
    append_value(throttle, "by power", reading.throttled_by_power, 0);
    append_value(throttle, "by heat", reading.throttled_by_heat, 0);
  }
  put_args(kPower, power);
  put_args(kClock, clock);
  put_args(kHeat, heat);
  put_args(kThrottle, throttle);
}

void CounterText::finish(std::string& out, const TraceInfo& info) {
  for (auto& [id, device] : devices_)
    if (device.end != 0) put_off(out, info, id, device);
}

}  // namespace gapscope::sampler
