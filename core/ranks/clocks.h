#pragma once
// One time axis for all ranks. Each rank's clock is compared with another's by the ends of collectives that no rank leaves
// before all have come: the median difference is the offset, the median distance from it the residual. Of all pairs of ranks
// those with the smallest residuals are used to reach every rank from the lowest one, whose clock is the axis.
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/ranks/match.h"

namespace gapscope {

enum class ClockAlignment : std::uint8_t {
  collectives,  // baseTimeNanoseconds, corrected by the ends of collectives
  base,         // baseTimeNanoseconds as the files state it
  none,         // the files' times as they are
};
std::optional<ClockAlignment> alignment_from(std::string_view word);

struct RankClock {
  Ns offset = 0;          // how far this rank's clock is ahead of the axis, at `drift_from`
  Ns residual = 0;        // how far the ends disagree after the correction: median
  bool compared = false;  // by at least one collective, directly or through other ranks
  double drift = 0;       // ns it gains a ns; 0 where a line explains no more than an offset does
  Ns drift_from = 0;      // time of the file
  Ns add = 0;             // what makes a time of the file one of the axis, before drift

  Ns on_axis(Ns t) const { return t + add - (drift == 0 ? 0 : static_cast<Ns>(drift * static_cast<double>(t - drift_from))); }
  Span on_axis(Span s) const { return {on_axis(s.begin), on_axis(s.end)}; }
  // Back again; exact but for drift, which is within a nanosecond.
  Ns in_file(Ns t) const {
    return t - add + (drift == 0 ? 0 : static_cast<Ns>(drift * static_cast<double>(t - add - drift_from)));
  }
};

struct Clocks {
  ClockAlignment alignment = ClockAlignment::collectives;
  std::vector<RankClock> ranks;
  Ns worst_residual = 0;
  Ns shortest_latency = 0;       // of all compared collectives; 0 where there are none
  std::uint64_t compared = 0;    // collectives that no rank leaves before all have come
  std::uint64_t impossible = 0;  // of these, where some rank came after another had left
  Ns worst_impossible = 0;

  // Skews shorter than the residual are noise; where it exceeds the shortest latency none is to be trusted.
  bool trustworthy() const { return worst_residual <= shortest_latency && impossible * 20 <= compared; }
};

Clocks align_clocks(const std::vector<RankData>& ranks, const Matches& matches, ClockAlignment alignment);

}  // namespace gapscope
