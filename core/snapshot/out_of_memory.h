#pragma once
// Why an allocation did not fit: what was asked, what was free where, and what to do.
#include <cstdint>
#include <string>
#include <vector>

#include "core/snapshot/holders.h"
#include "core/snapshot/leaks.h"

namespace gapscope {

struct OutOfMemory {
  enum class Why : std::uint8_t {
    full,        // what is free, all together, is less than what was asked
    fragmented,  // enough is free, but in pieces that are too small
    elsewhere,   // a hole is large enough, but belongs to another stream, pool or graph
    limited,     // the device itself had enough: a limit for this process, or another process took it meanwhile
  };
  std::uint32_t event = 0;
  std::int64_t time_us = 0;
  std::int64_t asked = 0, device_free = 0;
  bool is_large = false;                              // the pool that was asked
  std::uint64_t stream = 0;                           // the stream that asked
  std::int64_t segment = 0;                           // what the device had to give for it
  std::int64_t reserved = 0, held = 0, free = 0;      // of the process at that time; free: in its segments
  std::int64_t largest_small = 0, largest_large = 0;  // holes of both pools on that stream
  std::int64_t largest_elsewhere = 0;                 // of the pool that was asked on other streams and in graphs' pools
  bool is_expandable = false;                         // expandable segments were in use
  Why why = Why::full;
  StackId stack = 0;
  MemoryHolders holders;  // at that time
  std::vector<SnapshotLeak> leaks;
};
std::string_view name_of(OutOfMemory::Why why);  // "fragmented"

// `event`: the position of an oom in the device's events.
OutOfMemory explain_oom(const Snapshot& snapshot, const SnapshotDevice& device, std::uint32_t event);

// One sentence, without a name of the file: what was asked, why it did not fit.
std::string oom_sentence(const Snapshot& snapshot, const OutOfMemory& oom);
// What to do about it, a sentence each.
std::vector<std::string> oom_remedies(const Snapshot& snapshot, const OutOfMemory& oom);

}  // namespace gapscope
