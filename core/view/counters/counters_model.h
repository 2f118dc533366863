#pragma once
// The tab "Counters": each kernel with what its GPU's counters say, and where kernels lie under the GPU's roof.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/analyze/counters/counter_facts.h"

namespace gapscope {

// A logarithmic axis. Both ends are greater than 0.
struct LogAxis {
  double low = 1, high = 10;
  // 0 at `low`, 1 at `high`; less and more beyond.
  double share(double value) const;
  // Values to write at it, ascending: 1, 2 and 5 of each power of ten, or only the powers, or fewer of these; at most so many.
  std::vector<double> ticks(std::size_t most) const;
};

struct RooflineChart {
  // Operations a second that the GPU does at most, in one type.
  struct Roof {
    std::string name;  // "bf16 989 TFLOP/s"
    double per_second = 0;
  };
  struct Dot {
    const MeasuredKernel* kernel = nullptr;
    const RooflinePoint* point = nullptr;
  };
  std::int32_t device = 0;
  std::optional<double> bytes_per_second;  // that the memory moves at most
  std::vector<Roof> roofs;                 // highest first
  std::vector<Dot> dots;
  LogAxis per_byte, per_second;
};
// Of the GPU whose kernels took the most time. Without dots where no kernel's operations are known.
RooflineChart roofline_chart(const Trace& trace, const CounterFacts& facts);
// What a dot says: the name, its place and its numbers, a line each.
std::string dot_text(const Trace& trace, const RooflineChart::Dot& dot);

// "500 T" of 5e14, "1 P", "20": a tick of an axis.
std::string tick_text(double value);

// "1.6 TB/s", "837 TFLOP/s".
std::string rate_text(double per_second, const char* unit);

// Launches of that name on that GPU, in time order.
std::vector<SliceId> slices_of_kernel(const Trace& trace, std::span<const SliceId> named, std::int32_t device);

}  // namespace gapscope
