#pragma once
// When the part that was asked for was open: stretches of time, one in another and side by side: only their union
// counts.
#include <cstdint>
#include <deque>
#include <functional>
#include <set>
#include <unordered_map>

#include "app/sampler/activity.h"

namespace gapscope::sampler {

class AskedTimes {
 public:
  // A stretch begins, or ends; `marker` joins the two. An end without a begin is none.
  void open(std::uint32_t marker, Ns time);
  void close(std::uint32_t marker, Ns time);
  // Ends included.
  bool contains(Ns time) const;
  // Drops what ended before `time`, but for stretches that `is_needed` (their ends).
  void forget(Ns time, const std::function<bool(const Times&)>& is_needed);

  std::size_t size() const { return past_.size(); }  // closed stretches that are remembered
  std::uint64_t steps() const { return steps_; }     // looked at so far: what the tests hold against the number of questions

 private:
  std::deque<Times> past_;                      // ascending, none touches another
  std::unordered_map<std::uint32_t, Ns> open_;  // begins, by marker
  std::multiset<Ns> begins_;                    // of those, in order
  mutable std::uint64_t steps_ = 0;
};

}  // namespace gapscope::sampler
