#pragma once
// Joins NVTX markers to ranges, and GPU work to the ranges it was launched in. CUPTI hands over its records in no order that
// could be relied on across buffers: work waits until all ranges and calls from before its launch are known. Then each thread's
// time is gone through once: begins, launches and ends in their order, with the open ranges as a stack. Work is noted with the
// innermost, and what a range has is given to the one around it when it ends, so that neither depth nor number costs anything a
// launch. Of what has ended nothing is stored.
#include <cstdint>
#include <map>
#include <optional>
#include <set>
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

  // What is complete: ranges that ended before `until`, by begin, with the work known by now. Call it with ever later times,
  // now and then; work that still waits for its call from before then is given up.
  std::vector<GpuRange> take_gpu_ranges(Ns until);
  // Ranges that never ended, as if they had ended at `now`.
  std::vector<Range> take_open(Ns now);

  // Whether a range that is still to be handed over, or whose GPU side is, began in these times.
  bool began_within(const Times& times) const;

  std::size_t kept() const { return begins_.size(); }  // ranges that are held
  std::uint64_t steps() const { return steps_; }       // ranges looked at so far: what the tests hold against their number

 private:
  struct Launch {
    std::uint32_t thread = 0;
    Ns time = 0;
  };
  using Streams = std::map<std::pair<std::int32_t, std::int32_t>, Times>;  // by device and stream
  struct Open {
    Range range;
    std::uint64_t number = 0;  // of its GPU side; an operator has none, as Kineto has no GPU side of them
  };
  struct Side {  // of a range whose launches are not all known yet
    std::string name;
    Ns begun = 0;
    std::uint64_t number = 0;
    Streams streams;
  };
  struct Waiting {
    GpuPlace place;
    Times times;
  };
  struct Event {
    enum class What : std::uint8_t { begin, launch, end };  // at equal times in this order: both ends belong to a range
    Ns time = 0;
    What what{};
    std::uint64_t number = 0;  // of a range
    std::size_t work = 0;      // in the works of this round
    std::string name;          // of a begin
  };
  struct Thread {
    std::vector<Event> events;  // still to be gone through
    std::vector<Side> open;     // innermost last
  };
  void begin(const Marker& marker);
  Range end(Open& open, Ns time);
  void go_through(Thread& thread, const std::vector<Waiting>& works, Ns until, std::vector<GpuRange>& taken);
  void end_side(Thread& thread, std::uint64_t number, std::vector<GpuRange>& taken);
  void forget_begin(Ns time);

  std::unordered_map<std::uint32_t, Open> open_;  // by marker
  std::unordered_map<std::uint32_t, Thread> threads_;
  std::unordered_map<std::uint32_t, Launch> launches_;  // by correlation
  std::vector<Waiting> waiting_;
  std::multiset<Ns> begins_;
  std::uint64_t last_number_ = 0, steps_ = 0;
};

}  // namespace gapscope::sampler
