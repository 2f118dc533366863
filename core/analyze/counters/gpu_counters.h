#pragma once
// A GPU's hardware counters, as `gapscope record --counters` writes them (core/load/KINETO.md): their means over any span. Sums
// of everything before a moment are stored, so that a question costs O(log n), whatever it spans.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/trace/trace.h"

namespace gapscope {

// Shares are percent, rates GB/s (1e9 bytes), as in the file.
enum class CounterKind : std::uint8_t {
  sm_active,
  sm_issue,
  tensor,
  dram_read,
  dram_write,
  dram_share,
  pcie_read,
  pcie_write,
  nvlink_received,
  nvlink_sent,
  sm_clock,  // MHz, from the cycles that passed
  // From here on not sampled by the GPU itself but asked of its driver some 50 times a second.
  watts,
  sm_mhz,
  memory_mhz,
  celsius,
  held_by_power,  // share of the time, 0..1
  held_by_heat,
};
constexpr std::size_t kCounterKinds = 17;
// What a series of a GPU's counters is; none for others.
std::optional<CounterKind> counter_kind(std::string_view name, std::string_view series);
// Sampled by the GPU: known only while it samples.
constexpr bool is_sampled_kind(CounterKind kind) { return kind < CounterKind::watts; }
// The series that shows how long each sample is, 0 where samples are missing or end.
bool is_sampling_word(std::string_view name, std::string_view series);

// Over a span; NaN for what the file does not say.
struct CounterMeans {
  CounterMeans() { mean.fill(NAN); }
  double operator[](CounterKind kind) const { return mean[static_cast<std::size_t>(kind)]; }
  bool knows(CounterKind kind) const { return !std::isnan((*this)[kind]); }
  // Less than two samples say little about a span: too short to measure.
  bool measured() const { return samples >= 2; }
  // MHz: as the cycles say, or the driver; NaN where neither does.
  double clock() const { return (*this)[knows(CounterKind::sm_clock) ? CounterKind::sm_clock : CounterKind::sm_mhz]; }

  std::array<double, kCounterKinds> mean{};
  Ns covered = 0;      // of the span, by samples
  double samples = 0;  // that lie in it; those at its ends in part
  // At least so many times the driver was asked in the span (a reading that changes nothing is not in the file). Below two it
  // says nothing: the last reading is up to 20 ms old, and what it shows lags.
  std::uint64_t readings = 0;
  double joules = NAN;
};

class DeviceCounters {
 public:
  DeviceCounters(const Trace& trace, std::int32_t device);

  std::int32_t device() const { return device_; }
  bool empty() const { return series_.empty(); }
  CounterMeans over(Span span) const;
  // Of several spans that do not overlap, taken together.
  CounterMeans over(const std::vector<Span>& spans) const;

 private:
  // A value that holds until the next point.
  struct Series {
    CounterKind kind{};
    std::vector<Ns> times;
    std::vector<double> values, sums;  // sums: value times ns before the point
    double before(Ns t) const;
  };
  // A stretch in which samples follow each other.
  struct Sampled {
    Span span;
    double interval = 0;  // ns
  };
  struct Sums {
    std::array<double, kCounterKinds> value{};
    std::array<double, kCounterKinds> time{};
    double samples = 0;
    std::uint64_t readings = 0;
    Ns covered = 0;
  };
  void read(const Trace& trace, const Counter& counter);
  void read_sampling(const std::vector<CounterSample>& samples);
  void close_sampling();
  void infer_sampling();
  void collect_readings();
  void add(Span span, Sums& sums) const;
  static CounterMeans means_of(const Sums& sums);

  std::int32_t device_;
  std::vector<Series> series_;
  std::vector<Sampled> on_;
  bool ends_openly_ = false;  // where the samples end is not in the file
  std::vector<Ns> readings_;  // of the driver, where they changed anything
};

// Those GPUs of the trace that have any.
std::vector<DeviceCounters> gpu_counters(const Trace& trace);

}  // namespace gapscope
