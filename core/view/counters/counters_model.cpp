#include "core/view/counters/counters_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>

#include <fmt/format.h>

#include "core/analyze/counters/counter_words.h"
#include "core/analyze/kernel_name/shown_name.h"
#include "core/base/demangle.h"
#include "core/base/table/csv.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

constexpr std::array<const char*, 6> kPrefixes = {"", "k", "M", "G", "T", "P"};

std::size_t prefix_of(double& value) {
  std::size_t prefix = 0;
  for (; value >= 999.5 && prefix + 1 < kPrefixes.size(); ++prefix) value /= 1000;
  return prefix;
}

// Room for the dots and both sides of each ridge, where the slope meets a level roof.
void fit_axes(RooflineChart& chart) {
  constexpr double kLeft = 20, kRight = 5, kBelow = 30, kAbove = 3;  // times as far
  const RooflinePoint& first = *chart.dots.front().point;
  double least_x = first.per_byte, most_x = first.per_byte, least_y = first.per_second, most_y = first.per_second;
  const auto widen = [](double& least, double& most, double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  };
  for (const RooflineChart::Dot& dot : chart.dots) {
    widen(least_x, most_x, dot.point->per_byte);
    widen(least_y, most_y, dot.point->per_second);
  }
  for (const RooflineChart::Roof& roof : chart.roofs) {
    widen(least_y, most_y, roof.per_second);
    if (chart.bytes_per_second) widen(least_x, most_x, roof.per_second / *chart.bytes_per_second);
  }
  chart.per_byte = {least_x / kLeft, most_x * kRight};
  chart.per_second = {least_y / kBelow, most_y * kAbove};
}

void add_roof(RooflineChart& chart, std::string_view device, MathType math) {
  const std::optional<double> peak = dense_peak(device, math);
  const auto same = [&](const RooflineChart::Roof& roof) { return peak && roof.per_second == *peak; };
  if (!peak || std::any_of(chart.roofs.begin(), chart.roofs.end(), same)) return;
  chart.roofs.push_back({std::string(math_type_name(math)) + " " + rate_text(*peak, "FLOP/s"), *peak});
}

}  // namespace

double LogAxis::share(double value) const {
  return value > 0 ? (std::log10(value) - std::log10(low)) / (std::log10(high) - std::log10(low)) : 0;
}

std::vector<double> LogAxis::ticks(std::size_t most) const {
  constexpr double kRounding = 1e-9;  // of a tick that lies on an end
  const int first = static_cast<int>(std::floor(std::log10(low) + kRounding));
  const int last = static_cast<int>(std::floor(std::log10(high) + kRounding));
  const auto those = [&](std::initializer_list<double> of_ten, int every) {
    std::vector<double> out;
    for (int decade = first; decade <= last; ++decade)
      for (const double factor : of_ten)
        if (const double at = factor * std::pow(10, decade);
            decade % every == 0 && at >= low * (1 - kRounding) && at <= high * (1 + kRounding))
          out.push_back(at);
    return out;
  };
  std::vector<double> out = those({1, 2, 5}, 1);
  for (int every = 1; out.size() > most && every <= last - first + 1; ++every) out = those({1}, every);
  return out.size() <= most ? out : std::vector<double>();
}

std::string tick_text(double value) {
  const char* prefix = kPrefixes[prefix_of(value)];
  return fmt::format("{:.6g}{}{}", value, *prefix ? " " : "", prefix);
}

std::string rate_text(double per_second, const char* unit) {
  const char* prefix = kPrefixes[prefix_of(per_second)];
  return format_significant(per_second) + " " + prefix + unit;
}

RooflineChart roofline_chart(const Trace& trace, const CounterFacts& facts) {
  RooflineChart chart;
  if (facts.kernels().empty()) return chart;
  chart.device = facts.kernels().front().device;
  const DeviceProperties* properties = trace.device(chart.device);
  const DeviceCounters* device = facts.device(chart.device);
  if (device) chart.bytes_per_second = dram_peak(facts.while_busy(*device));
  for (const RooflinePoint& point : facts.roofline()) {
    if (point.device != chart.device) continue;
    chart.dots.push_back({facts.kernel(point.name, point.device), &point});
    if (properties && point.math) add_roof(chart, properties->name, *point.math);
  }
  std::sort(chart.roofs.begin(), chart.roofs.end(), [](const auto& a, const auto& b) { return a.per_second > b.per_second; });
  if (!chart.dots.empty()) fit_axes(chart);
  return chart;
}

std::string dot_text(const Trace& trace, const RooflineChart::Dot& dot) {
  std::string text = kernel_title(trace.strings[dot.point->name]);
  text += fmt::format("\n{}: {}", place_name(dot.kernel->place), use_text(dot.kernel->means));
  text += fmt::format("\n{}, {} operations a byte of DRAM traffic", rate_text(dot.point->per_second, "FLOP/s"),
                      format_significant(dot.point->per_byte));
  return text + fmt::format("\n{} launches of known shapes, {} in all; {}",
                            format_count(static_cast<std::int64_t>(dot.point->launches)), format_duration(dot.point->time),
                            samples_text(dot.kernel->means));
}

const RooflinePoint* point_of(const CounterFacts& facts, const MeasuredKernel& kernel) {
  for (const RooflinePoint& point : facts.roofline())
    if (point.name == kernel.name && point.device == kernel.device) return &point;
  return nullptr;
}

std::vector<SliceId> slices_of_kernel(const Trace& trace, std::span<const SliceId> named, std::int32_t device) {
  std::vector<SliceId> out;
  for (const SliceId slice : named)
    if (const GpuRow* row = trace.gpu_row(slice); row && row->device == device) out.push_back(slice);
  std::sort(out.begin(), out.end(), [&](SliceId a, SliceId b) { return trace.begin(a) < trace.begin(b); });
  return out;
}

double counters_value(const CounterFacts& facts, const MeasuredKernel& kernel, CountersColumn column) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  const auto share = [&](CounterKind kind) { return kernel.place == KernelPlace::unmeasured ? kUnknown : kernel.means[kind]; };
  const RooflinePoint* point = point_of(facts, kernel);
  switch (column) {
    case CountersColumn::time: return static_cast<double>(kernel.time);
    case CountersColumn::sm: return share(CounterKind::sm_active);
    case CountersColumn::tensor: return share(CounterKind::tensor);
    case CountersColumn::dram: return share(CounterKind::dram_share);
    case CountersColumn::rate: return point ? point->per_second : kUnknown;
    case CountersColumn::intensity: return point ? point->per_byte : kUnknown;
    case CountersColumn::launches: return static_cast<double>(kernel.launches);
    case CountersColumn::samples: return static_cast<double>(kernel.means.samples);
    case CountersColumn::name:
    case CountersColumn::place: break;
  }
  return kUnknown;
}

std::string_view place_word(KernelPlace place) {
  switch (place) {
    case KernelPlace::tensor_bound: return "tensor";
    case KernelPlace::memory_bound: return "memory";
    case KernelPlace::latency_bound: return "latency";
    case KernelPlace::unmeasured: break;
  }
  return {};
}

std::vector<std::uint32_t> counters_rows(const Trace& trace, const CounterFacts& facts, const RowOrder& order) {
  const std::vector<MeasuredKernel>& kernels = facts.kernels();
  const auto column = static_cast<CountersColumn>(order.column);
  const auto number = [&](const MeasuredKernel& kernel) {
    const double value = counters_value(facts, kernel, column);
    return std::isnan(value) ? -1.0 : value;
  };
  const auto less = [&](std::uint32_t a, std::uint32_t b) {
    if (column == CountersColumn::name) return trace.strings[kernels[a].name] < trace.strings[kernels[b].name];
    if (column == CountersColumn::place) return place_word(kernels[a].place) < place_word(kernels[b].place);
    return number(kernels[a]) < number(kernels[b]);
  };
  return rows_in_order(kernels.size(), order, less);
}

std::string counters_csv(const Trace& trace, const CounterFacts& facts, const std::vector<std::uint32_t>& rows) {
  constexpr std::array kNumbers = {CountersColumn::sm, CountersColumn::tensor, CountersColumn::dram, CountersColumn::rate,
                                   CountersColumn::intensity};
  std::string out =
      "name,device,bound_by,time_ns,launches,sm_active_percent,tensor_pipe_percent,dram_of_peak_percent,flop_per_s,"
      "flop_per_byte,samples\n";
  for (const std::uint32_t row : rows) {
    const MeasuredKernel& kernel = facts.kernels()[row];
    out += csv_cell(demangle(trace.strings[kernel.name])) +
           fmt::format(",{},{},{},{}", kernel.device, place_word(kernel.place), kernel.time, kernel.launches);
    for (const CountersColumn column : kNumbers) {
      const double value = counters_value(facts, kernel, column);
      out += std::isnan(value) ? "," : fmt::format(",{:.6g}", value);
    }
    out += fmt::format(",{}\n", kernel.means.samples);
  }
  return out;
}

}  // namespace gapscope
