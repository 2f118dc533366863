#pragma once
// What `gapscope attach --watch` says of each recording, so that many short ones show how a run goes.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/trace/doubt.h"

namespace gapscope::attach {

struct RecordedFacts {
  Ns window = 0;           // of the account (core/analyze/account/CAUSES.md)
  std::optional<Ns> busy;  // of the busiest GPU: computing, communicating or copying; none: no GPU work
  std::optional<Ns> step;  // median; none: nothing marks steps
  std::vector<Doubt> doubts{};
};

// None: the file cannot be read.
std::optional<RecordedFacts> facts_of_recording(const std::string& path);

// The lower median; none of an empty list.
std::optional<Ns> median(std::vector<Ns> values);

// Whether a recording of this step time is `times` as slow as those before (by their median). The first ones are: there is
// nothing to hold them against.
bool is_slow(Ns step, std::span<const Ns> before, double times);

}  // namespace gapscope::attach
