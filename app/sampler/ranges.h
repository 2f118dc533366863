#pragma once
// Joins NVTX markers to ranges, and GPU work to the ranges it was launched in. CUPTI hands over its records in no order that
// could be relied on across buffers: work waits until all ranges and calls from before its launch are known.
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "app/sampler/activity.h"

namespace gapscope::sampler {

// The GPU side of a range on one stream.
struct GpuRange {
  std::string name;
  Times times;
  std::int32_t device = 0, stream = 0;
  Ns begun = 0;  // the range itself, on its thread
};

class Ranges {
 public:
  // The whole range, when this is its end; none for a begin, a mark, or an end whose begin was not recorded.
  std::optional<Range> add(const Marker& marker);
  void add_call(const Call& call);
  void add_work(const GpuPlace& place, const Times& times);

  // What is complete: ranges that ended before `until`, with the work known by now. Call it with ever later times, now and
  // then; work that still waits for its call from before then is given up.
  std::vector<GpuRange> take_gpu_ranges(Ns until);
  // Ranges that never ended, as if they had ended at `now`.
  std::vector<Range> take_open(Ns now);

 private:
  struct Launch {
    std::uint32_t thread = 0;
    Ns time = 0;
  };
  using Streams = std::map<std::pair<std::int32_t, std::int32_t>, Times>;  // by device and stream
  static constexpr std::size_t kNone = ~std::size_t{0};
  struct Kept {
    Range range;
    Streams streams;
    std::size_t parent = kNone;  // the range that was open around it, as a position in all of its thread's
    bool closed = false;
  };
  // Positions count from the thread's first range; those before `dropped` are taken already. Operators are not kept: Kineto
  // has no GPU side of them.
  struct Thread {
    std::deque<Kept> ranges;
    std::size_t dropped = 0;
    std::vector<std::size_t> open;  // innermost last
    Kept* at(std::size_t position) { return position == kNone || position < dropped ? nullptr : &ranges[position - dropped]; }
  };
  struct Open {
    Range range;
    std::size_t position = kNone;  // of an operator: none
  };
  struct Waiting {
    GpuPlace place;
    Times times;
  };
  bool place_work(const Waiting& work, Ns until);
  void begin(const Marker& marker);
  Range end(Open& open, Ns time);

  std::unordered_map<std::uint32_t, Open> open_;        // by marker
  std::unordered_map<std::uint32_t, Thread> threads_;
  std::unordered_map<std::uint32_t, Launch> launches_;  // by correlation
  std::vector<Waiting> waiting_;
};

}  // namespace gapscope::sampler
