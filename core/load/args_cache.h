#pragma once
// Stretches of args that come again and again: operators are called with the same shapes in every layer and every step, and
// kernels are launched the same way. A stretch that a worker has read before is recognised by comparing its text with what came
// after the stretch before it the last time, and is then not walked. It never changes what is read, only how fast.
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.h"
#include "core/load/event_keys.h"
#include "core/trace/tables.h"

namespace gapscope {

constexpr std::uint64_t arg_bit(ArgKey key) { return std::uint64_t{1} << static_cast<unsigned>(key); }

struct CachedArgs {
  std::string text;             // from the first key to the ',' or '}' that follows the last value, with it
  std::uint32_t positions = 0;  // structural positions in `text`, the last one excepted
  std::uint64_t present = 0;    // bit an ArgKey in it that is taken
  GpuRow gpu;                   // of both rows what is present, texts in the worker's own table
  OpRow op;
};

class ArgsCache {
 public:
  // Members that are alike from one event to the next; lists are, too.
  static constexpr bool may_hold(ArgKey key) { return (kRepeating & arg_bit(key)) != 0; }

  // Whether a run can hold what is `present` (bit an ArgKey).
  static constexpr bool holds(std::uint64_t present) { return (present & ~kRepeating) == 0; }

  // For tests, which compare what is read with runs and without.
  static inline std::atomic<bool> learns_nothing{false};

  // The run that is likely to stand in the args of an event with this name (its token), or null when `text` begins otherwise.
  // Where it is null, learn() may report what was there.
  const CachedArgs* find(std::string_view name, std::string_view text) {
    likely_ = &likely_runs_[slot_of(name)];
    if (*likely_ >= runs_.size() || !text.starts_with(runs_[*likely_].text)) return nullptr;
    last_ = *likely_;
    return &runs_[last_];
  }
  static bool worth_learning(std::size_t bytes, std::size_t positions) {
    return bytes <= kLongest && positions >= kShortest && !learns_nothing;
  }
  void learn(CachedArgs run);

 private:
  static constexpr bool repeats = true, varies = false;  // how often, in the lists of core/trace/arg_columns.h
#define GAPSCOPE_REPEATING(field, type, absent, key, often, ...) | (often ? arg_bit(ArgKey::field) : 0)
  static constexpr std::uint64_t kRepeating = 0 GAPSCOPE_GPU_ARGS(GAPSCOPE_REPEATING) GAPSCOPE_OP_ARGS(GAPSCOPE_REPEATING);
#undef GAPSCOPE_REPEATING
  // A training step has a few hundred; all together stay small whatever a file does.
  static constexpr std::size_t kMostRuns = 1024, kLongest = 2048, kShortest = 8;
  static constexpr std::size_t kSlots = 4096;

  std::size_t slot_of(std::string_view name) const;

  std::vector<CachedArgs> runs_;
  std::size_t next_ = 0;             // the run to be replaced when there are kMostRuns
  std::uint16_t last_ = 0;           // the run met last
  std::uint16_t* likely_ = nullptr;  // where find() looked
  std::vector<std::uint16_t> likely_runs_ = std::vector<std::uint16_t>(kSlots, kMostRuns);  // by name and the run before
  std::vector<std::uint16_t> by_text_ = std::vector<std::uint16_t>(kSlots, kMostRuns);
};

}  // namespace gapscope
