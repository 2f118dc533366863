#pragma once
// What a person says of a recording: it is not in the file, and goes with the trace from its loading on (LoadOptions::stated).
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/time.h"

namespace gapscope {

enum class MathType : std::uint8_t { fp64, fp32, tf32, fp16, bf16, fp8 };

// What is known better than the table of devices, or of devices that it lacks.
struct StatedRoofs {
  std::vector<std::pair<MathType, double>> peaks;  // operations a second; the last of a type counts
  std::optional<double> bandwidth;                 // bytes a second
  friend bool operator==(const StatedRoofs&, const StatedRoofs&) = default;
};

// Who says how long a step of the plain program is: the user, the program that was recorded, another recording of it, or
// none of them.
enum class PlainSource : std::uint8_t { stated, measured, other_recording, estimated };

// The length of a step, and the range in which it is nine times of ten.
struct StepTime {
  Ns step = 0, low = 0, high = 0;
  PlainSource source = PlainSource::stated;
  StepTime(Ns exactly) : step(exactly), low(exactly), high(exactly) {}  // NOLINT(google-explicit-constructor): a time says it
};

struct Stated {
  // The steps are the annotations of this name, or where there are none those whose name a regular expression (RE2) matches in
  // full or at its beginning. Empty: as they are found.
  std::string steps;
  bool as_recorded = true;            // nothing is said of the plain program
  std::optional<StepTime> step_time;  // of the plain program
  StatedRoofs roofs;
};

}  // namespace gapscope
