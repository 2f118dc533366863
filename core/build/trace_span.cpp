#include "core/build/trace_span.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace gapscope {
namespace {

constexpr Ns kDay = 24 * 3600 * kNsPerS;
constexpr std::size_t kSampled = 4096;

// Some of the trace's times in order, evenly taken.
std::vector<Ns> sampled_times(const Trace& trace) {
  std::vector<Ns> sample;
  const auto& begin = trace.slices.begin;
  for (std::size_t i = 0; i < begin.size(); i += begin.size() / kSampled + 1) sample.push_back(begin[i]);
  for (std::size_t i = 0; begin.empty() && i < trace.instants.size(); ++i) sample.push_back(trace.instants[i].time);
  if (sample.empty()) {
    for (const Counter& c : trace.counters)
      for (const CounterSample& v : c.samples) sample.push_back(v.time);
  }
  std::sort(sample.begin(), sample.end());
  return sample;
}

// The middle half of the times, and how far from it a time may lie.
class Bulk {
 public:
  explicit Bulk(const std::vector<Ns>& sample)
      : bulk_{sample[sample.size() / 4], sample[sample.size() - 1 - sample.size() / 4]} {
    constexpr Ns kMost = std::numeric_limits<Ns>::max();
    reach_ = std::max(kDay, bulk_.length() < kMost / 200 ? bulk_.length() * 100 : kMost / 2);
  }
  bool is_near(Ns t) const {
    return (t >= bulk_.begin || static_cast<__int128>(bulk_.begin) - t <= reach_) &&
           (t <= bulk_.end || static_cast<__int128>(t) - bulk_.end <= reach_);
  }
  bool is_near(const Lane& lane) const { return lane.slice_count == 0 || (is_near(lane.span.begin) && is_near(lane.span.end)); }
  Ns begin() const { return bulk_.begin; }

 private:
  Span bulk_;
  Ns reach_ = 0;
};

// Of all slices. Needs lanes.
Span hull_of_lanes(const Trace& trace) {
  Span all{std::numeric_limits<Ns>::max(), std::numeric_limits<Ns>::min()};
  for (const Lane& lane : trace.lanes) {
    if (lane.slice_count != 0) all = hull(all, lane.span);
  }
  return all;
}

// Of the slices that begin near the bulk; reports the others.
Span hull_of_near_slices(Trace& trace, const Bulk& bulk) {
  Span all{bulk.begin(), bulk.begin()};
  bool any = false;
  const Slices& slices = trace.slices;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    if (!bulk.is_near(slices.begin[i])) {
      trace.report.add(ImportIssue::absurd_time, slices.offset[i], trace.strings[slices.name[i]]);
      continue;
    }
    const Span slice{slices.begin[i], bulk.is_near(slices.end[i]) ? slices.end[i] : slices.begin[i]};
    all = any ? hull(all, slice) : slice;
    any = true;
  }
  return all;
}

}  // namespace

void drop_absurd_marks(Trace& trace) {
  if (trace.slice_count() == 0) return;
  const Span all = hull_of_lanes(trace);
  std::erase_if(trace.instants, [&](const Instant& i) {
    const bool absurd = !i.lane && trace.strings[i.name] == "Record Window End" &&
                        (static_cast<__int128>(i.time) - all.end > kDay || static_cast<__int128>(all.begin) - i.time > kDay);
    if (absurd) trace.report.add(ImportIssue::absurd_window_end, i.offset, "Record Window End");
    return absurd;
  });
}

void find_span(Trace& trace) {
  const std::vector<Ns> sample = sampled_times(trace);
  if (sample.empty()) return;
  if (trace.slice_count() == 0) {
    trace.span = {sample.front(), sample.back()};
    return;
  }
  const Bulk bulk(sample);
  const bool all_near =
      std::all_of(trace.lanes.begin(), trace.lanes.end(), [&](const Lane& lane) { return bulk.is_near(lane); });
  trace.span = all_near ? hull_of_lanes(trace) : hull_of_near_slices(trace, bulk);
}

}  // namespace gapscope
