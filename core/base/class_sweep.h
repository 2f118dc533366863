#pragma once
// How long which classes of work run together, from spans that come in order of begin: the lengths of all intersections of
// their unions, in one walk that keeps nothing but a moment a class. Spans of no length cover no time.
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "core/base/time.h"

namespace gapscope {

template <std::size_t kClasses>
class ClassSweep {
 public:
  static constexpr std::size_t kMasks = std::size_t{1} << kClasses;

  // No begin before that of any span added so far.
  void add(std::size_t cls, Span span) {
    advance(span.begin);
    until_[cls] = std::max(until_[cls], span.end);
  }
  // Time by which classes run: bit 1 << class; [0] stays 0. Nothing is to be added afterwards.
  const std::array<Ns, kMasks>& finish() {
    advance(std::numeric_limits<Ns>::max());
    return together_;
  }

 private:
  void advance(Ns to) {
    while (now_ < to) {
      std::size_t mask = 0;
      Ns stop = to;
      for (std::size_t c = 0; c < kClasses; ++c) {
        if (until_[c] <= now_) continue;
        mask |= std::size_t{1} << c;
        stop = std::min(stop, until_[c]);
      }
      if (mask != 0) together_[mask] += stop - now_;
      now_ = mask != 0 ? stop : to;
    }
  }

  static constexpr Ns kBefore = std::numeric_limits<Ns>::min();
  Ns now_ = kBefore;
  std::array<Ns, kClasses> until_ = filled();
  std::array<Ns, kMasks> together_{};

  static constexpr std::array<Ns, kClasses> filled() {
    std::array<Ns, kClasses> all{};
    all.fill(kBefore);
    return all;
  }
};

// The whole time of the masks that share a bit with `any`.
template <std::size_t kMasks>
Ns time_with(const std::array<Ns, kMasks>& together, std::size_t any) {
  Ns sum = 0;
  for (std::size_t mask = 1; mask < kMasks; ++mask) sum += (mask & any) != 0 ? together[mask] : 0;
  return sum;
}

}  // namespace gapscope
