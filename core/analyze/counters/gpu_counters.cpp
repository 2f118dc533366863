#include "core/analyze/counters/gpu_counters.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace gapscope {
namespace {

struct Known {
  std::string_view name, series;
  CounterKind kind;
};
constexpr std::array<Known, kCounterKinds> kKnown = {{{"SM", "active %", CounterKind::sm_active},
                                                      {"SM", "issue %", CounterKind::sm_issue},
                                                      {"SM", "tensor pipe %", CounterKind::tensor},
                                                      {"DRAM", "read GB/s", CounterKind::dram_read},
                                                      {"DRAM", "write GB/s", CounterKind::dram_write},
                                                      {"DRAM", "of peak %", CounterKind::dram_share},
                                                      {"PCIe", "read GB/s", CounterKind::pcie_read},
                                                      {"PCIe", "write GB/s", CounterKind::pcie_write},
                                                      {"NVLink", "received GB/s", CounterKind::nvlink_received},
                                                      {"NVLink", "sent GB/s", CounterKind::nvlink_sent},
                                                      {"SM clock", "MHz", CounterKind::sm_clock},
                                                      {"GPU power", "W", CounterKind::watts},
                                                      {"GPU clock", "SM MHz", CounterKind::sm_mhz},
                                                      {"GPU clock", "memory MHz", CounterKind::memory_mhz},
                                                      {"GPU temperature", "C", CounterKind::celsius},
                                                      {"GPU throttled", "by power", CounterKind::held_by_power},
                                                      {"GPU throttled", "by heat", CounterKind::held_by_heat}}};
constexpr std::string_view kSampling = "Counter sampling", kInterval = "interval us";
constexpr std::uint64_t kFewestReadings = 2;
constexpr Ns kLongestSample = 1'000'000'000;
constexpr double kNsPerSecond = 1e9;

}  // namespace

std::optional<CounterKind> counter_kind(std::string_view name, std::string_view series) {
  for (const Known& known : kKnown)
    if (known.name == name && known.series == series) return known.kind;
  return std::nullopt;
}

bool is_sampling_word(std::string_view name, std::string_view series) { return name == kSampling && series == kInterval; }

double DeviceCounters::Series::before(Ns t) const {
  const auto at = std::upper_bound(times.begin(), times.end(), t);
  if (at == times.begin()) return 0;
  const auto i = static_cast<std::size_t>(at - times.begin()) - 1;
  return sums[i] + values[i] * static_cast<double>(t - times[i]);
}

DeviceCounters::DeviceCounters(const Trace& trace, std::int32_t device) : device_(device) {
  for (const Counter& counter : trace.counters) {
    if (!counter.process || counter.samples.empty()) continue;
    const Process& process = trace.processes[counter.process.index()];
    if (process.is_gpu && process.device == device) read(trace, counter);
  }
  close_sampling();
  if (on_.empty()) infer_sampling();
  collect_readings();
}

void DeviceCounters::read(const Trace& trace, const Counter& counter) {
  const std::string_view name = trace.strings[counter.name], part = trace.strings[counter.series];
  if (is_sampling_word(name, part)) return read_sampling(counter.samples);
  const auto kind = counter_kind(name, part);
  if (!kind) return;
  Series series;
  series.kind = *kind;
  double sum = 0;
  for (const CounterSample& sample : counter.samples) {
    if (!std::isfinite(sample.value)) continue;
    if (!series.times.empty()) sum += series.values.back() * static_cast<double>(sample.time - series.times.back());
    series.times.push_back(sample.time);
    series.values.push_back(sample.value);
    series.sums.push_back(sum);
  }
  if (!series.times.empty()) series_.push_back(std::move(series));
}

void DeviceCounters::collect_readings() {
  for (const Series& series : series_)
    if (!is_sampled_kind(series.kind)) readings_.insert(readings_.end(), series.times.begin(), series.times.end());
  std::sort(readings_.begin(), readings_.end());
  readings_.erase(std::unique(readings_.begin(), readings_.end()), readings_.end());
}

// A stretch lasts until the next word; the last word of a whole file is 0, that of a part may have been cut off.
void DeviceCounters::read_sampling(const std::vector<CounterSample>& samples) {
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double interval = samples[i].value * 1000;
    if (!(interval > 0) || interval > static_cast<double>(kLongestSample)) continue;
    const Ns end = i + 1 < samples.size() ? samples[i + 1].time : samples[i].time + static_cast<Ns>(interval);
    if (end > samples[i].time) on_.push_back({{samples[i].time, end}, interval});
  }
  ends_openly_ = !on_.empty() && samples.back().value > 0;
}

// In a part of a file: from where all values are known to the last sample.
void DeviceCounters::close_sampling() {
  if (on_.empty()) return;
  Ns known = on_.front().span.begin;
  for (const Series& series : series_) {
    if (!is_sampled_kind(series.kind)) continue;
    known = std::max(known, series.times.front());
    if (ends_openly_)
      on_.back().span.end = std::max(on_.back().span.end, series.times.back() + static_cast<Ns>(on_.back().interval));
  }
  if (known < on_.front().span.end) on_.front().span.begin = known;
}

// A file whose words about sampling were cut off: from the first sample to the last, as far apart as the closest two.
void DeviceCounters::infer_sampling() {
  std::set<Ns> times;
  for (const Series& series : series_)
    if (is_sampled_kind(series.kind)) times.insert(series.times.begin(), series.times.end());
  Ns interval = kLongestSample;
  for (auto at = times.begin(), next = at; at != times.end() && ++next != times.end(); ++at)
    interval = std::min(interval, *next - *at);
  if (times.size() >= 2) on_.push_back({{*times.begin(), *times.rbegin() + interval}, static_cast<double>(interval)});
}

void DeviceCounters::add(Span span, Sums& sums) const {
  const auto add_series = [&](const Series& series, Span part) {
    const auto i = static_cast<std::size_t>(series.kind);
    sums.value[i] += series.before(part.end) - series.before(part.begin);
    sums.time[i] += static_cast<double>(part.length());
  };
  auto at = std::partition_point(on_.begin(), on_.end(), [&](const Sampled& s) { return s.span.end <= span.begin; });
  for (; at != on_.end() && at->span.begin < span.end; ++at) {
    const Span part{std::max(at->span.begin, span.begin), std::min(at->span.end, span.end)};
    sums.covered += part.length();
    sums.samples += static_cast<double>(part.length()) / at->interval;
    for (const Series& series : series_)
      if (is_sampled_kind(series.kind)) add_series(series, part);
  }
  const auto count_before = [&](Ns t) { return std::lower_bound(readings_.begin(), readings_.end(), t) - readings_.begin(); };
  sums.readings += static_cast<std::uint64_t>(count_before(span.end) - count_before(span.begin));
  for (const Series& series : series_) {
    if (is_sampled_kind(series.kind)) continue;
    const Span part{std::max(series.times.front(), span.begin), span.end};
    if (part.begin < part.end) add_series(series, part);
  }
}

CounterMeans DeviceCounters::means_of(const Sums& sums) {
  CounterMeans means;
  means.covered = sums.covered;
  means.samples = sums.samples;
  means.readings = sums.readings;
  for (std::size_t i = 0; i < kCounterKinds; ++i)
    if (sums.time[i] > 0 && (is_sampled_kind(static_cast<CounterKind>(i)) || sums.readings >= kFewestReadings))
      means.mean[i] = sums.value[i] / sums.time[i];
  if (means.knows(CounterKind::watts)) means.joules = sums.value[static_cast<std::size_t>(CounterKind::watts)] / kNsPerSecond;
  return means;
}

CounterMeans DeviceCounters::over(Span span) const { return over(std::vector<Span>{span}); }

CounterMeans DeviceCounters::over(const std::vector<Span>& spans) const {
  Sums sums;
  for (const Span& span : spans)
    if (span.begin < span.end) add(span, sums);
  return means_of(sums);
}

std::vector<DeviceCounters> gpu_counters(const Trace& trace) {
  std::set<std::int32_t> devices;
  for (const Counter& counter : trace.counters)
    if (counter.process && trace.processes[counter.process.index()].is_gpu)
      devices.insert(trace.processes[counter.process.index()].device);
  std::vector<DeviceCounters> all;
  for (const std::int32_t device : devices)
    if (DeviceCounters counters(trace, device); !counters.empty()) all.push_back(std::move(counters));
  return all;
}

}  // namespace gapscope
