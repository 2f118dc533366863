#include "core/view/timeline/counter_lanes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include "core/analyze/counters/counter_words.h"
#include "core/analyze/counters/gpu_counters.h"
#include "core/analyze/practices/practices.h"
#include "core/base/gallop.h"
#include "core/base/text.h"
#include "core/session/trace_session.h"
#include "core/view/timeline/time_view.h"

namespace gapscope {
namespace {

// What tells how well a GPU is used, before all else; the others of its counters come last, as they are numbered.
constexpr std::array kFirst = {CounterKind::sm_active, CounterKind::tensor, CounterKind::dram_share, CounterKind::watts};

std::size_t order_of(CounterKind kind) {
  const auto at = std::find(kFirst.begin(), kFirst.end(), kind);
  return at != kFirst.end() ? static_cast<std::size_t>(at - kFirst.begin()) : kFirst.size() + static_cast<std::size_t>(kind);
}

constexpr double kLongestSampleUs = 1e6;
constexpr std::size_t kBlock = 16;  // samples that a column at its edges looks at one by one

void widen(CounterColumn& reach, double value) {
  if (!std::isfinite(value)) return;
  reach.low = reach.known ? std::min(reach.low, value) : value;
  reach.high = reach.known ? std::max(reach.high, value) : value;
  reach.known = true;
}
void widen(CounterColumn& reach, const CounterColumn& other) {
  if (!other.known) return;
  widen(reach, other.low);
  widen(reach, other.high);
}

// The mean over each column: a share of time has no other meaning at a point.
class GpuShare : public CounterSeries {
 public:
  using Means = void (GpuSeries::*)(std::span<const Ns>, std::vector<double>&) const;
  GpuShare(const GpuSeries& series, Means means, Span known) : series_(series), means_(means), known_(known) {}

  void columns(const PixelGrid& grid, std::vector<CounterColumn>& out) const override {
    // Of each column the stretch that it shows; of several within one nanosecond, that nanosecond.
    out.assign(static_cast<std::size_t>(grid.width()), {});
    std::vector<Ns> edges;
    std::vector<std::size_t> stretch(out.size());
    for (int c = 0; c <= grid.width(); ++c) {
      const bool last = c == grid.width();
      const Ns begin = grid.begin_of(c) - (!last && grid.begin_of(c + 1) == grid.begin_of(c) ? 1 : 0);
      if (edges.empty() || begin > edges.back()) edges.push_back(begin);
      if (!last) stretch[static_cast<std::size_t>(c)] = edges.size() - 1;
    }
    std::vector<double> means;
    (series_.*means_)(edges, means);
    for (std::size_t c = 0; c < out.size(); ++c) {
      const std::size_t at = stretch[c];
      if (known_.overlaps({edges[at], edges[at + 1]})) out[c] = {means[at], means[at], true};
    }
  }

 private:
  const GpuSeries& series_;
  Means means_;
  Span known_;
};

// The process that represents a GPU, the first of several; none where the trace has no lanes for it.
class GpuProcesses {
 public:
  explicit GpuProcesses(const Trace& trace) {
    for (std::size_t p = 0; p < trace.processes.size(); ++p)
      if (trace.processes[p].is_gpu) by_device_.try_emplace(trace.processes[p].device, ProcessId(p));
  }
  ProcessId of(std::int32_t device) const {
    const auto at = by_device_.find(device);
    return at == by_device_.end() ? ProcessId{} : at->second;
  }

 private:
  std::unordered_map<std::int32_t, ProcessId> by_device_;
};

ProcessId first_cpu_process(const Trace& trace) {
  for (const Lane& lane : trace.lanes)
    if (lane.kind == LaneKind::cpu_thread) return lane.process;
  return trace.lanes.empty() ? ProcessId{} : trace.lanes.front().process;
}

void add_gpu_shares(const GpuProcesses& processes, const GpuUsage& usage, Vendor vendor, std::vector<CounterLane>& lanes) {
  for (std::size_t i = 0; i < usage.series.size() && i < usage.devices.size(); ++i) {
    const ProcessId process = processes.of(usage.devices[i].device);
    const Span known = usage.devices[i].all.span;
    if (!process || known.empty()) continue;
    CounterLane busy{process,
                     "GPU utilization",
                     "Share of the time in which at least one kernel runs.",
                     CounterUnit::percent,
                     CounterLane::Look::utilization,
                     0,
                     1,
                     {}};
    busy.series.push_back({"", std::make_unique<GpuShare>(usage.series[i], &GpuSeries::utilization_between, known)});
    lanes.push_back(std::move(busy));
    if (!usage.series[i].has_sm_efficiency()) continue;
    CounterLane sms{
        process,
        in_words_of(vendor, "Est. SM efficiency"),
        in_words_of(vendor, "Mean share of SMs that have a block, estimated from blocks per SM of the kernels that run."),
        CounterUnit::percent,
        CounterLane::Look::efficiency,
        0,
        1,
        {}};
    sms.series.push_back({"", std::make_unique<GpuShare>(usage.series[i], &GpuSeries::sm_efficiency_between, known)});
    lanes.push_back(std::move(sms));
  }
}

void add_memory(const Trace& trace, const GpuProcesses& processes, const MemoryUse& memory, std::vector<CounterLane>& lanes) {
  for (const MemoryDevice& device : memory.devices) {
    if (device.points.empty()) continue;
    ProcessId process = device.device >= 0 ? processes.of(device.device) : ProcessId{};
    if (!process) process = first_cpu_process(trace);
    if (!process) continue;
    const MemoryCurve& points = device.points;
    const auto time = [&points](std::size_t i) { return points.time(i); };
    auto allocated = std::make_unique<SampledSeries>(
        points.size(), time, [&points](std::size_t i) { return static_cast<double>(points[i].allocated); });
    CounterLane lane{process,
                     "Memory of " + memory_device_name(device.device_type, device.device),
                     device.states_totals ? "Memory allocated by PyTorch, and what its allocator reserves for it."
                                          : "Memory allocated since the recording began; the file states no totals.",
                     CounterUnit::bytes,
                     CounterLane::Look::memory,
                     0,
                     0,
                     {}};
    lane.low = std::min(0.0, allocated->reach().low);
    lane.high = std::max(allocated->reach().high, static_cast<double>(device.peak_reserved));
    lane.series.push_back({"allocated", std::move(allocated)});
    if (device.peak_reserved > 0)
      lane.series.push_back({"reserved", std::make_unique<SampledSeries>(points.size(), time, [&points](std::size_t i) {
                               return points[i].reserved < 0 ? std::nan("") : static_cast<double>(points[i].reserved);
                             })});
    lanes.push_back(std::move(lane));
  }
}

void add_queues(const GpuProcesses& processes, const StreamFacts& streams, std::vector<CounterLane>& lanes) {
  for (const QueueCurve& queue : streams.queues) {
    const ProcessId process = processes.of(queue.device);
    if (!process || queue.points.size() == 0) continue;
    const StepPoints& points = queue.points;
    auto depth = std::make_unique<SampledSeries>(
        points.size(), [&points](std::size_t i) { return points.time(i); },
        [&points](std::size_t i) { return static_cast<double>(points.value(i)); });
    CounterLane lane{process,
                     "Queue of stream " + std::to_string(queue.stream),
                     "Work launched on the stream and not begun: at 0 the GPU waits for the CPU.",
                     CounterUnit::count,
                     CounterLane::Look::queue,
                     0,
                     std::max(1.0, depth->reach().high),
                     {}};
    lane.series.push_back({"", std::move(depth)});
    lanes.push_back(std::move(lane));
  }
}

// Of shares the whole is the scale: "active %", as gapscope record writes them.
bool name_ends_with_percent(const std::string& series) { return series.ends_with(" %"); }

// A GPU's own counters, as gapscope record writes them.
struct OfGpu {
  CounterKind kind{};
  const Counter* counter = nullptr;
  const Counter* sampling = nullptr;  // of the same GPU: from where to where there are samples; may be null
  Ns last = 0;                        // sample of that GPU, of any kind
};

std::vector<OfGpu> counters_of_gpus(const Trace& trace) {
  std::vector<OfGpu> out;
  std::unordered_map<std::size_t, const Counter*> sampling;
  for (const Counter& counter : trace.counters) {
    if (counter.samples.empty() || !counter.process || !trace.processes[counter.process.index()].is_gpu) continue;
    const std::string_view name = trace.strings[counter.name], series = trace.strings[counter.series];
    if (is_sampling_word(name, series)) sampling[counter.process.index()] = &counter;
    if (const auto kind = counter_kind(name, series)) out.push_back({*kind, &counter, nullptr, 0});
  }
  std::unordered_map<std::size_t, Ns> last;
  for (const OfGpu& of : out)
    if (is_sampled_kind(of.kind)) {
      Ns& time = last.try_emplace(of.counter->process.index(), of.counter->samples.back().time).first->second;
      time = std::max(time, of.counter->samples.back().time);
    }
  for (OfGpu& of : out) of.last = last[of.counter->process.index()];
  for (OfGpu& of : out)
    if (const auto at = sampling.find(of.counter->process.index()); at != sampling.end()) of.sampling = at->second;
  std::stable_sort(out.begin(), out.end(), [](const OfGpu& a, const OfGpu& b) { return order_of(a.kind) < order_of(b.kind); });
  return out;
}

// With "not known" where nothing was sampled.
std::shared_ptr<const std::vector<CounterSample>> with_holes(const OfGpu& of) {
  auto samples = std::make_shared<std::vector<CounterSample>>(of.counter->samples);
  if (!of.sampling || !is_sampled_kind(of.kind)) return samples;
  for (const CounterSample& word : of.sampling->samples)
    if (word.value == 0) samples->push_back({word.time, std::nan("")});
  // Of a part of a file the word that sampling ends may have been cut off.
  if (const double interval = of.sampling->samples.back().value; interval > 0 && interval < kLongestSampleUs)
    samples->push_back({of.last + static_cast<Ns>(interval * static_cast<double>(kNsPerUs)), std::nan("")});
  std::stable_sort(samples->begin(), samples->end(), [](const auto& a, const auto& b) {
    return std::pair(a.time, std::isfinite(a.value)) < std::pair(b.time, std::isfinite(b.value));
  });
  return samples;
}

CounterLane::Look look_of(CounterKind kind) {
  if (kind == CounterKind::sm_active) return CounterLane::Look::compute;
  if (kind == CounterKind::tensor) return CounterLane::Look::tensor;
  return kind == CounterKind::dram_share ? CounterLane::Look::traffic : CounterLane::Look::counter;
}

std::string help_of(CounterKind kind) {
  for (const CounterWord& word : counter_words())
    if (word.kind == kind) return word.help;
  return kind == CounterKind::held_by_power  ? "1 where the driver holds the clocks back for power."
         : kind == CounterKind::held_by_heat ? "1 where the driver holds the clocks back for heat."
                                             : "As the driver says it.";
}

void add_of_gpu(const Trace& trace, const OfGpu& of, std::vector<CounterLane>& lanes) {
  const auto samples = with_holes(of);
  auto series = std::make_unique<SampledSeries>(
      samples->size(), [samples](std::size_t i) { return (*samples)[i].time; },
      [samples](std::size_t i) { return (*samples)[i].value; }, SampledSeries::Mean::over_time);
  const std::string part(trace.strings[of.counter->series]);
  CounterLane lane{of.counter->process,
                   printable(std::string(trace.strings[of.counter->name]) + " " + part),
                   help_of(of.kind),
                   CounterUnit::plain,
                   look_of(of.kind),
                   0,
                   name_ends_with_percent(part) ? 100 : std::max(1.0, series->reach().high),
                   {}};
  lane.series.push_back({"", std::move(series)});
  lanes.push_back(std::move(lane));
}

bool is_of_gpu(const Trace& trace, const Counter& counter) {
  const std::string_view name = trace.strings[counter.name], series = trace.strings[counter.series];
  return trace.processes[counter.process.index()].is_gpu && (is_sampling_word(name, series) || counter_kind(name, series));
}

void add_counters(const Trace& trace, std::vector<CounterLane>& lanes) {
  for (const Counter& counter : trace.counters) {
    if (counter.samples.empty() || !counter.process || is_of_gpu(trace, counter)) continue;
    const std::vector<CounterSample>& samples = counter.samples;
    auto series = std::make_unique<SampledSeries>(
        samples.size(), [&samples](std::size_t i) { return samples[i].time; },
        [&samples](std::size_t i) { return samples[i].value; });
    const std::string name(trace.strings[counter.name]);
    const std::string part(trace.strings[counter.series]);
    CounterLane lane{counter.process,
                     printable(part.empty() || part == name ? name : name + " " + part),
                     "A counter of the trace.",
                     series->whole_numbers() ? CounterUnit::count : CounterUnit::plain,
                     CounterLane::Look::counter,
                     std::min(0.0, series->reach().low),
                     std::max(0.0, series->reach().high),
                     {}};
    if (lane.high <= lane.low) lane.high = lane.low + 1;
    lane.series.push_back({"", std::move(series)});
    lanes.push_back(std::move(lane));
  }
}

}  // namespace

std::string counter_text(CounterUnit unit, double value) {
  constexpr double kMostExact = 9e15;  // beyond, a double holds no whole numbers
  if (!std::isfinite(value)) return "unknown";
  if (unit == CounterUnit::percent) return format_percent(value);
  if (unit == CounterUnit::plain || std::abs(value) > kMostExact) return format_significant(value);
  const auto whole = std::llround(value);
  if (unit == CounterUnit::count) return format_count(whole);
  return (whole < 0 ? "-" : "") + format_bytes(static_cast<std::uint64_t>(std::llabs(whole)));
}

SampledSeries::SampledSeries(std::size_t count, std::function<Ns(std::size_t)> time, std::function<double(std::size_t)> value,
                             Mean mean)
    : count_(count), time_(std::move(time)), value_(std::move(value)) {
  blocks_.resize((count + kBlock - 1) / kBlock);
  for (std::size_t i = 0; i < count; ++i) {
    if (i % kBlock == 0) block_times_.push_back(time_(i));
    const double v = value_(i);
    widen(blocks_[i / kBlock], v);
    whole_numbers_ = whole_numbers_ && v == std::floor(v);
  }
  for (const CounterColumn& block : blocks_) widen(reach_, block);
  if (mean == Mean::none) return;
  integrals_.resize(count);
  for (std::size_t i = 1; i < count; ++i) integrals_[i] = up_to(time_(i), i - 1);
}

SampledSeries::Integral SampledSeries::up_to(Ns t, std::size_t last) const {
  Integral sum = integrals_[last];
  const double value = value_(last);
  if (!std::isfinite(value)) return sum;
  const auto lasted = static_cast<double>(t - time_(last));
  return {sum.value + value * lasted, sum.time + lasted};
}

CounterColumn SampledSeries::reach_of(std::size_t first, std::size_t last) const {
  CounterColumn reach;
  while (first < last) {
    if (first % kBlock == 0 && first + kBlock <= last) {
      widen(reach, blocks_[first / kBlock]);
      first += kBlock;
    } else {
      widen(reach, value_(first++));
    }
  }
  return reach;
}

void SampledSeries::columns(const PixelGrid& grid, std::vector<CounterColumn>& out) const {
  out.assign(static_cast<std::size_t>(grid.width()), {});
  // The first sample from `at` on in column c or later: whole blocks are passed by their times, which are side by
  // side in memory.
  const auto first_from = [&](std::size_t at, int c) {
    const std::size_t block =
        first_where(at / kBlock + 1, block_times_.size(), [&](std::size_t i) { return grid.column(block_times_[i]) >= c; });
    at = std::max(at, (block - 1) * kBlock);
    while (at < count_ && grid.column(time_(at)) < c) ++at;
    return at;
  };
  std::size_t at = first_from(0, 0);
  double before = at > 0 ? value_(at - 1) : std::nan("");
  for (int c = 0; c < grid.width(); ++c) {
    const std::size_t next = first_from(at, c + 1);
    CounterColumn& column = out[static_cast<std::size_t>(c)];
    column = reach_of(at, next);
    // A value from before lasts into the column, unless a sample is right at its begin.
    if (next == at || time_(at) > grid.begin_of(c)) widen(column, before);
    if (next > at) before = value_(next - 1);
    if (!integrals_.empty() && next > 0 && column.known) {
      const Integral from = at > 0 ? up_to(grid.begin_of(c), at - 1) : Integral{}, to = up_to(grid.begin_of(c + 1), next - 1);
      column.averaged = true;
      column.mean = to.time > from.time ? (to.value - from.value) / (to.time - from.time) : before;
      column.averaged = std::isfinite(column.mean);
    }
    at = next;
  }
}

std::vector<CounterLane> counter_lanes(const TraceSession& session) {
  const Trace& trace = session.trace();
  const GpuProcesses processes(trace);
  std::vector<CounterLane> lanes;
  const std::vector<OfGpu> of_gpus = counters_of_gpus(trace);
  const auto rest =
      std::find_if(of_gpus.begin(), of_gpus.end(), [](const OfGpu& of) { return order_of(of.kind) >= kFirst.size(); });
  for (auto at = of_gpus.begin(); at != rest; ++at) add_of_gpu(trace, *at, lanes);
  add_gpu_shares(processes, session.usage(), vendor_of(trace), lanes);
  add_memory(trace, processes, session.memory(), lanes);
  add_queues(processes, session.streams(), lanes);
  for (auto at = rest; at != of_gpus.end(); ++at) add_of_gpu(trace, *at, lanes);
  add_counters(trace, lanes);
  return lanes;
}

}  // namespace gapscope
