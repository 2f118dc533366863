#pragma once
// Times by cause over stretches that lie over each other, as the gaps of a file's many devices do: no stretch is read again and
// again. Once the questions about a thread have read its slices a few times, sums from the window's begin up to some moments
// are remembered, and a long stretch is the difference of two of them with a little at its ends. So n slices and d devices take
// O((n + d) log n), where reading takes O(n * d); a file whose gaps do not overlap is read as before.
#include <unordered_map>
#include <vector>

#include "core/analyze/account/host_time.h"

namespace gapscope {

class HostSums {
 public:
  // Of `window`, which holds all stretches that are asked about; of a trace with so many slices. Refers to `host`.
  HostSums(const HostTime& host, Span window, std::size_t slice_count);

  // As HostReader::add_times.
  void add_times(LaneId lane, Span span, CauseTimes& times);

 private:
  struct View {
    std::uint64_t read = 0;  // pieces and slices
    std::vector<Ns> at;      // moments in order; empty: there are no sums
    std::vector<CauseTimes> before;
  };
  View& view_of(LaneId lane);
  std::uint64_t read(HostReader& reader, LaneId lane, Span span, CauseTimes& times);
  void keep_sums(View& view, LaneId lane);
  std::vector<Ns> moments_of(const std::vector<HostPiece>& pieces, LaneId lane) const;

  const HostTime& host_;
  const Span window_;
  const std::uint64_t read_before_;  // so that keeping sums is paid by what was read
  HostReader in_order_, at_ends_;    // of questions that follow each other, and of what is left of those that sums answer
  View all_;                         // threads
  std::unordered_map<std::uint32_t, View> views_;  // by lane
  LaneId last_lane_;
  View* last_ = nullptr;
};

}  // namespace gapscope
