#pragma once
// The GPU work that some of the host's slices launch, and what goes with both.
#include <string>
#include <vector>

#include "core/diagnose/facts.h"
#include "core/diagnose/rule.h"

namespace gapscope {

struct LaunchedWork {
  std::vector<SliceId> slices;
  Ns time = 0;  // of them all
};
// O(GPU work), and O(n log n) in the slices.
LaunchedWork work_launched_in(const Facts& facts, const std::vector<SliceId>& slices);

// For a finding whose remedy does not do what the host does in its places (Cure::gone): they become its places, spared with the
// GPU work that is launched there.
struct SparedTime {
  Ns host = 0, gpu = 0;
  double gpu_share = 0, share = 0;  // of the GPU time; the larger of it and of the host's of the window

  std::string words() const;                    // "12 % of the GPU time (3.1 ms) and 5.2 ms on the host"
  Evidence evidence(EvidenceMap counts) const;  // the counts, then gpu_us, share (of the GPU time), host_us
};
SparedTime mark_spared(const Facts& facts, Finding& finding, std::vector<FindingSpan> places);

}  // namespace gapscope
