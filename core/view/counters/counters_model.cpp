#include "core/view/counters/counters_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>

#include <fmt/format.h>

#include "core/analyze/counters/counter_words.h"
#include "core/analyze/kernel_name/shown_name.h"
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

void add_roof(RooflineChart& chart, const StatedRoofs& stated, std::string_view device, MathType math) {
  const std::optional<double> peak = dense_peak(stated, device, math);
  const auto same = [&](const RooflineChart::Roof& roof) { return peak && roof.per_second == *peak; };
  if (!peak || std::any_of(chart.roofs.begin(), chart.roofs.end(), same)) return;
  chart.roofs.push_back({std::string(math_type_name(math)) + " " + rate_text(*peak, "FLOP/s"), *peak});
}

}  // namespace

double LogAxis::share(double value) const {
  return value > 0 ? (std::log10(value) - std::log10(low)) / (std::log10(high) - std::log10(low)) : 0;
}

std::vector<double> LogAxis::ticks(std::size_t most) const {
  constexpr double kRounding = 1e-9;  // of a tick on an end
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
    if (properties && point.math) add_roof(chart, trace.stated.roofs, properties->name, *point.math);
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

std::vector<SliceId> slices_of_kernel(const Trace& trace, std::span<const SliceId> named, std::int32_t device) {
  std::vector<SliceId> out;
  for (const SliceId slice : named)
    if (const GpuRow* row = trace.gpu_row(slice); row && row->device == device) out.push_back(slice);
  std::sort(out.begin(), out.end(), [&](SliceId a, SliceId b) { return trace.begin(a) < trace.begin(b); });
  return out;
}

}  // namespace gapscope
