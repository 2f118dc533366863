#pragma once
// Backwards along a clock of the host: the calls before one, and the host's own time between them.
#include <algorithm>
#include <vector>

#include "core/replay/replay.h"

namespace gapscope {

class HostWalk {
 public:
  HostWalk(const ReplayModel& model, const ReplayResult& result);

  // The call before, of the same clock; or ReplayModel::kNone.
  std::uint32_t before(std::uint32_t call) const { return before_[call]; }
  // The last call of a clock that begins at or before its recorded time `old`; or kNone.
  std::uint32_t last(std::uint32_t clock, Ns old) const;
  // Visits [from, until) of the replayed time backwards, `until` being before the begin of `call`: own(span, old) for the
  // host's own time, called(call, span) for time in calls.
  template <class Own, class Called>
  void back(std::uint32_t call, Ns from, Ns until, Own own, Called called) const {
    Ns old_end = model_.calls()[call].span.begin;
    for (std::uint32_t c = before_[call]; until > from; c = before_[c]) {
      if (c == ReplayModel::kNone) return own(Span{from, until}, Span{old_end - (until - from), old_end});
      const Span at = result_.calls[c];
      const Span all{at.end, until}, old{std::min(model_.calls()[c].span.end, old_end), old_end};
      if (!all.empty()) own(intersect(all, {from, until}), last_part(old, all, from));
      until = std::min(until, std::max(from, at.end));
      if (at.begin < until) called(c, Span{std::max(from, at.begin), until});
      until = std::min(until, std::max(from, at.begin));
      old_end = model_.calls()[c].span.begin;
    }
  }

 private:
  // What of `old` is played from `from` on, where all of it is played in `all`.
  static Span last_part(Span old, Span all, Ns from) {
    if (from <= all.begin) return old;
    const double share = static_cast<double>(all.end - from) / static_cast<double>(all.length());
    return {old.end - static_cast<Ns>(share * static_cast<double>(old.length())), old.end};
  }

  const ReplayModel& model_;
  const ReplayResult& result_;
  std::vector<std::uint32_t> before_;
};

}  // namespace gapscope
