#pragma once
// The clock of CUPTI's samples. CUPTI stamps them by the one clock that a process may give it: ours, until another profiler in
// the program (PyTorch's) gives it its own, the processor's time stamp counter. Stamps of that are brought back onto ours.
#include <cstdint>
#include <optional>

#include "app/sampler/activity.h"

namespace gapscope::sampler {

class SampleClock {
 public:
  // The same moment by both clocks.
  struct Moment {
    Ns ours = 0;
    std::int64_t ticks = 0;  // 0: this processor has no counter that can be read
  };
  SampleClock() = default;
  explicit SampleClock(const Moment& begin) : begin_(begin) {}

  // `now`: when the stamp was fetched; the counter's speed is that since the begin. None where it is of neither clock.
  std::optional<Ns> ours_of(std::int64_t stamp, const Moment& now) const;

 private:
  Moment begin_;
};

// `ours`: the time by our clock.
SampleClock::Moment moment_at(Ns ours);

}  // namespace gapscope::sampler
