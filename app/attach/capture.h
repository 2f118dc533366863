#pragma once
// What a running program is asked to record, as the configuration text that Kineto reads (libkineto/src/Config.cpp). No other
// keys than those of this file are ever sent.
#include <chrono>
#include <cstdint>
#include <string>

#include "core/base/time.h"

namespace gapscope::attach {

struct Capture {
  Ns duration = 500'000'000;
  std::int32_t iterations = 0;  // more than 0: as many steps instead of a duration; the program has to mark its steps
  bool shapes = false, memory = false, stacks = false;
};

// What Kineto does before it records, so that the first kernels are not lost.
constexpr Ns kWarmUp = 5'000'000'000;
// How often a client of Kineto's asks: it looks every five seconds whether more than five have passed, so that ten pass where
// it wakes a little early (seen on two H200 with PyTorch 2.11).
constexpr Ns kPollInterval = 5'000'000'000, kLongestPollInterval = 10'000'000'000;
// Its profiler looks once a second whether it is to warm up, and drops a start for which no time is left to do so.
constexpr std::chrono::milliseconds kLeastNotice{kWarmUp / 1'000'000 + 1500};
// A start that it chooses is so long after its poll and its warm-up (kDefaultBufferUntilWarmup in Config.cpp, and a margin).
constexpr std::chrono::milliseconds kBeginsWithin{kWarmUp / 1'000'000 + 12'000};

// Why a trace cannot be written to `path`, which is in a line of a configuration; empty: it can.
std::string path_trouble(const std::string& path);

// `start_ms`: since 1970, so that several processes begin together; 0: at once. Kineto writes to `path` with "_PID" before
// its ending.
std::string configuration_text(const Capture& capture, const std::string& path, std::int64_t start_ms);

// Where Kineto puts the trace of process `pid` (as that process counts) that was asked to write to `path`.
std::string written_path(const std::string& path, std::int32_t pid);

}  // namespace gapscope::attach
