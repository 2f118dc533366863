#pragma once
// What is not as recordings are, found once, before anything is judged by it.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gapscope {

enum class DoubtKind : std::uint8_t {
  clock_offset,          // the clock of the GPU is not the one of the host
  missing_times,         // events without a time (ts 0)
  impossible_durations,  // GPU work that lasts past the next work of its stream
  lost_kernels,          // launches whose GPU work is not in the file
  several_recordings,    // one after the other
  several_ranks,         // processes of several ranks
  device_waits,          // waits of a device that are recorded as its work
  no_device_ids,         // GPU work that names neither its device nor its stream
};
// "clock_offset", ...
std::string_view doubt_word(DoubtKind kind);

struct Doubt {
  DoubtKind kind{};
  std::uint64_t count = 0;       // of what `said` counts
  std::string_view affects;      // what cannot be trusted: "idle time and its causes"
  std::string said;              // sentences for people
  bool mended = false;           // what the trace says is put right as far as it can be
  bool forbids_verdict = false;  // what limits the run is not judged
  std::string_view instead;      // what to do when recording again: a sentence; empty where nothing helps
};

// The first of this kind, or null.
const Doubt* find_doubt(const std::vector<Doubt>& doubts, DoubtKind kind);

}  // namespace gapscope
