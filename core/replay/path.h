#pragma once
// What holds a run back: the critical path of a replayed recording, and where the GPU's time goes in it.
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/analyze/account/time_account.h"
#include "core/replay/replay.h"

namespace gapscope {

enum class HeldBy : std::uint8_t {
  host,        // the host is on its way to a call
  start,       // launched, not begun
  queue,       // a device computes or copies
  collective,  // it communicates, or waits for other ranks
  wait,        // what a call that waited took to return
};
constexpr std::size_t kHeldBy = 5;
std::string_view held_by_key(HeldBy by);    // "host", ...
std::string_view held_by_words(HeldBy by);  // "the host"

struct PathStretch {
  Span span;  // of the replayed run
  HeldBy by{};
  SliceId slice;  // the operation; the call that waits; of the host the call that it is on its way to, or none
  Span old;       // of the host: its recorded time, from which a change may have taken some
};

// In time order; they touch, and together they are result.run. Linear.
std::vector<PathStretch> critical_path(const ReplayModel& model, const Change& change, const ReplayResult& result);

// What the replayed run's window goes into on `device`, that of gpu_busy(), as the time account has it: idle time before work
// by what the host did there in the recording.
AccountTimes times_after(const Trace& trace, const HostTime& host, const ReplayModel& model, const Change& change,
                         const ReplayResult& result, std::int32_t device);

// What the host was in during `old`, less what the change removes, each with its share of `length`; no more than that together.
struct HostShare {
  HostPiece piece;
  Ns time = 0;
};
std::vector<HostShare> host_shares(HostReader& reader, LaneId lane, Span old, const SpanSet& removed, Ns length, bool is_plain);

}  // namespace gapscope
