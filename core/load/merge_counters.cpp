#include "core/load/merge_counters.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/text.h"

namespace gapscope {
namespace {

constexpr Ns kNsPerUsec = 1000;

// "pid" of the GPU in the trace, as JSON; empty: it did no work there.
std::string pid_of(const Trace& trace, std::int32_t device) {
  for (const Process& process : trace.processes) {
    if (!process.is_gpu || process.device != device) continue;
    const bool number = !process.key.empty() && process.key.find_first_not_of("0123456789") == std::string::npos;
    return number ? process.key : nlohmann::json(process.key).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  return {};
}

std::string json_text(std::string_view text) {
  return nlohmann::json(std::string(text)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Microseconds with three decimals.
std::string us_text(Ns ns) {
  return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", std::abs(ns / kNsPerUsec), std::abs(ns % kNsPerUsec));
}

// One ph:C event: what of a counter changed at one time.
struct Event {
  std::string_view pid, name;
  Ns time = 0;
  std::string args;
};

// Sum of a counter's value over a span, times nanoseconds: each value holds until the next.
double integral(const std::vector<CounterSample>& samples, Span span) {
  const auto finite = [](const CounterSample& sample) { return std::isfinite(sample.value) ? sample.value : 0; };
  auto at = std::upper_bound(samples.begin(), samples.end(), span.begin,
                             [](Ns time, const CounterSample& sample) { return time < sample.time; });
  double sum = 0, value = at == samples.begin() ? 0 : finite(*(at - 1)), from = static_cast<double>(span.begin);
  for (; at != samples.end() && at->time < span.end; ++at) {
    const auto time = static_cast<double>(at->time);
    sum += value * (time - from);
    value = finite(*at);
    from = time;
  }
  return sum + value * (static_cast<double>(span.end) - from);
}

// Times of `counters` on the axis of `trace`.
class Axis {
 public:
  static Result<Axis> between(const Trace& trace, const Trace& counters) {
    for (const Trace* file : {&trace, &counters})
      if (!file->header.has_base_time)
        return Error{
            fmt::format("{} does not say when its time 0 was (baseTimeNanoseconds), so its clock cannot be joined with "
                        "that of another file. Record it with PyTorch 2.4 or later, or with gapscope record.",
                        printable(file->path))};
    Ns shift = 0;
    if (__builtin_sub_overflow(counters.header.base_time, trace.header.base_time, &shift))
      return Error{"The two files' clocks are too far apart to be joined."};
    return Axis(shift);
  }
  // False: so far away that this is not known.
  bool moved(Ns time, Ns& out) const { return !__builtin_add_overflow(time, shift_, &out); }
  // The other way round.
  bool moved_back(Ns time, Ns& out) const { return !__builtin_sub_overflow(time, shift_, &out); }

 private:
  explicit Axis(Ns shift) : shift_(shift) {}
  Ns shift_;
};

class Merge {
 public:
  Merge(const Trace& trace, const Trace& counters, const Axis& axis) : trace_(trace), counters_(counters), axis_(axis) {}

  std::optional<Error> collect() {
    for (const Counter& counter : counters_.counters) {
      if (!counter.process || counter.samples.empty()) continue;
      const Process& process = counters_.processes[counter.process.index()];
      const std::int32_t device = process.device;
      if (!process.is_gpu || device < 0) continue;
      any_ = true;
      auto [pid, is_new] = pids_.try_emplace(device);
      if (is_new) pid->second = pid_of(trace_, device);
      if (!pid->second.empty()) add(counter, pid->second);
    }
    if (auto error = trouble()) return error;
    for (const Counter& counter : counters_.counters)
      if (auto error = other_gpu(counter)) return error;
    for (auto& [key, args] : events_) order_.push_back({std::get<1>(key), std::get<2>(key), std::get<0>(key), std::move(args)});
    return std::nullopt;
  }
  // The next event's text; false after the last.
  bool next(std::string& text) {
    if (next_ == order_.size()) return false;
    const Event& event = order_[next_++];
    text = fmt::format(
        "{{\"ph\": \"C\", \"cat\": \"hardware_counters\", \"name\": {}, \"pid\": {}, \"ts\": {}, \"args\": {{{}}}}}",
        json_text(event.name), event.pid, us_text(event.time), event.args);
    return true;
  }
  std::uint64_t events() const { return order_.size(); }

 private:
  void add(const Counter& counter, const std::string& pid) {
    const CounterSample* in_force = nullptr;
    for (const CounterSample& sample : counter.samples) {
      Ns time = 0;
      if (!std::isfinite(sample.value) || !axis_.moved(sample.time, time)) continue;
      if (time <= trace_.span.begin) {
        in_force = &sample;
      } else if (time < trace_.span.end) {
        in_time_ = true;
        put(counter, pid, sample, time);
      }
    }
    Ns time = 0;
    if (in_force && axis_.moved(in_force->time, time)) put(counter, pid, *in_force, time);
  }
  void put(const Counter& counter, const std::string& pid, const CounterSample& sample, Ns time) {
    std::string& args = events_[{time, pid, counters_.strings[counter.name]}];
    args += fmt::format("{}{}: {}", args.empty() ? "" : ", ", json_text(counters_.strings[counter.series]), sample.value);
  }
  std::optional<Error> trouble() const {
    if (!any_)
      return Error{
          fmt::format("{} has no counters of a GPU. gapscope record --counters-only writes them.", printable(counters_.path))};
    if (std::all_of(pids_.begin(), pids_.end(), [](const auto& pid) { return pid.second.empty(); }))
      return Error{fmt::format("No GPU whose counters are in {} did any work in {}.", printable(counters_.path),
                               printable(trace_.path))};
    if (!in_time_)
      return Error{fmt::format("{} and {} are not of the same time: no counter changes while the trace lasts.",
                               printable(trace_.path), printable(counters_.path))};
    std::set<std::string_view> taken;
    for (const Counter& counter : trace_.counters)
      if (counter.process && trace_.processes[counter.process.index()].is_gpu) taken.insert(trace_.strings[counter.name]);
    for (const auto& [key, args] : events_)
      if (taken.contains(std::get<2>(key)))
        return Error{fmt::format("{} has the counter \"{}\" of a GPU already.", printable(trace_.path),
                                 printable(std::string(std::get<2>(key))))};
    return std::nullopt;
  }

  // A program that chose its GPUs itself counts them in another way than gapscope record did.
  std::optional<Error> other_gpu(const Counter& counter) const {
    constexpr Ns kLongKernel = 100'000;
    constexpr double kEnough = 1e6;  // ns
    constexpr double kStill = 1;     // percent; a kernel that does anything keeps an SM busy
    if (!counter.process || counters_.strings[counter.name] != "SM" || counters_.strings[counter.series] != "active %")
      return {};
    const Process& process = counters_.processes[counter.process.index()];
    if (!process.is_gpu) return {};
    const std::int32_t device = process.device;
    double sum = 0, time = 0;
    for (const GpuRow& row : trace_.gpu) {
      const Span span = trace_.span_of(row.slice);
      Span there;
      if (row.device != device || trace_.kind(row.slice) != Kind::kernel || span.length() < kLongKernel ||
          !axis_.moved_back(span.begin, there.begin) || !axis_.moved_back(span.end, there.end))
        continue;
      sum += integral(counter.samples, there);
      time += static_cast<double>(span.length());
    }
    if (time < kEnough || sum >= kStill * time) return {};
    return Error{
        fmt::format("While GPU {} works in {}, GPU {} of {} is idle: it is a different one. Choose GPUs "
                    "(CUDA_VISIBLE_DEVICES) for gapscope record, not inside the program.",
                    device, printable(trace_.path), device, printable(counters_.path))};
  }

  const Trace& trace_;
  const Trace& counters_;
  Axis axis_;
  bool any_ = false, in_time_ = false;
  std::map<std::int32_t, std::string> pids_;
  std::map<std::tuple<Ns, std::string_view, std::string_view>, std::string> events_;  // time, pid, name: args
  std::vector<Event> order_;
  std::size_t next_ = 0;
};

}  // namespace

bool holds_counters_alone(const Trace& trace) {
  return trace.slice_count() == 0 && std::any_of(trace.counters.begin(), trace.counters.end(), [&](const Counter& counter) {
           return counter.process && trace.processes[counter.process.index()].is_gpu && !counter.samples.empty();
         });
}

std::string counters_alone_words(const Trace& counters, std::string_view trace) {
  return fmt::format(
      "{} holds a GPU's counters alone. This puts them into the trace that a profiler took meanwhile: gapscope merge-counters "
      "{} {} -o both.json.gz",
      printable(std::filesystem::path(counters.path).filename().string()), printable(std::string(trace)),
      printable(counters.path));
}

Result<MergedCounters> merge_counters(const Trace& trace, const Trace& counters, const std::string& out,
                                      const CropOutput& output) {
  Result<Axis> axis = Axis::between(trace, counters);
  if (!axis) return axis.error();
  Merge merge(trace, counters, *axis);
  if (auto error = merge.collect()) return *error;
  CropChoice everything;
  everything.window = trace.span;
  everything.everything = true;
  everything.lanes.assign(trace.lanes.size(), true);
  CropOutput with_counters = output;
  with_counters.also_read = counters.path;
  with_counters.more = [&](std::string& text) { return merge.next(text); };
  Result<CropFigures> figures = write_crop(trace, everything, out, with_counters);
  if (!figures) return figures.error();
  return MergedCounters{std::move(*figures), merge.events()};
}

}  // namespace gapscope
