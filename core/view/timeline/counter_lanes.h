#pragma once
// What is drawn over time as an area rather than as slices: how busy a GPU is, its memory, its queues, and the counters
// that the trace itself holds. Worked out with the analyses; asked for one value a pixel column, at any zoom.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/session/trace_session.h"

namespace gapscope {

class PixelGrid;  // core/view/timeline/time_view.h

enum class CounterUnit : std::uint8_t { percent, bytes, count, plain };
// "73.2 %", "1.20 GB", "1,024", "0.125". `value` of a percentage is 0..1.
std::string counter_text(CounterUnit unit, double value);

// What a series reaches within one column of pixels.
struct CounterColumn {
  double low = 0, high = 0;
  bool known = false;
  bool averaged = false;  // `mean` is known
  double mean = 0;        // over the column's time
  friend bool operator==(const CounterColumn&, const CounterColumn&) = default;
};

class CounterSeries {
 public:
  virtual ~CounterSeries() = default;
  // One entry a column of the grid. Costs columns times O(log n).
  virtual void columns(const PixelGrid& grid, std::vector<CounterColumn>& out) const = 0;
};

// Samples whose value holds until the next one; a value that is no number is not known. `time` and `value` give sample i and
// must stay valid.
class SampledSeries : public CounterSeries {
 public:
  enum class Mean : bool { none, over_time };
  SampledSeries(std::size_t count, std::function<Ns(std::size_t)> time, std::function<double(std::size_t)> value,
                Mean mean = Mean::none);
  void columns(const PixelGrid& grid, std::vector<CounterColumn>& out) const override;
  // Of all samples; known is false where there is none.
  CounterColumn reach() const { return reach_; }
  bool whole_numbers() const { return whole_numbers_; }

 private:
  CounterColumn reach_of(std::size_t first, std::size_t last) const;
  // Of the value over the known time up to a moment at or after sample `last` and before the next.
  struct Integral {
    double value = 0, time = 0;  // value times ns, ns
  };
  Integral up_to(Ns t, std::size_t last) const;

  std::size_t count_;
  std::function<Ns(std::size_t)> time_;
  std::function<double(std::size_t)> value_;
  std::vector<CounterColumn> blocks_;  // of kBlock samples each
  std::vector<Ns> block_times_;        // of their first
  std::vector<Integral> integrals_;    // before each sample; empty without means
  CounterColumn reach_;
  bool whole_numbers_ = true;
};

struct CounterLane {
  struct Named {
    std::string name;  // "allocated"; empty where the lane has one series only
    std::unique_ptr<const CounterSeries> series;
  };
  enum class Look : std::uint8_t { utilization, efficiency, memory, queue, compute, tensor, traffic, counter };

  ProcessId process;
  std::string title;
  std::string help;  // a sentence
  CounterUnit unit = CounterUnit::plain;
  Look look = Look::counter;
  double low = 0, high = 1;   // the scale, whole units
  std::vector<Named> series;  // the first is drawn as an area, others as lines
};

// In the order in which they lie under their process.
std::vector<CounterLane> counter_lanes(const TraceSession& session);

}  // namespace gapscope
