#pragma once
// Time as Gapscope knows it: 64-bit integer nanoseconds, from the digits in the file to the pixel.
// A double has 0.25 ns steps at epoch-sized values, which invents overlaps that no file contains.
#include <algorithm>
#include <cstdint>

namespace gapscope {

using Ns = std::int64_t;

constexpr Ns kNsPerUs = 1'000;
constexpr Ns kNsPerMs = 1'000'000;
constexpr Ns kNsPerS = 1'000'000'000;

// Half-open stretch of time [begin, end). Empty when end <= begin.
struct Span {
  Ns begin = 0;
  Ns end = 0;

  constexpr Ns length() const { return end > begin ? end - begin : 0; }
  constexpr bool empty() const { return end <= begin; }
  constexpr bool contains(Ns t) const { return begin <= t && t < end; }
  constexpr bool contains(Span other) const { return begin <= other.begin && other.end <= end; }
  constexpr bool overlaps(Span other) const { return begin < other.end && other.begin < end; }
  friend constexpr bool operator==(Span, Span) = default;
};

constexpr Span intersect(Span a, Span b) { return {std::max(a.begin, b.begin), std::min(a.end, b.end)}; }
constexpr Span hull(Span a, Span b) { return {std::min(a.begin, b.begin), std::max(a.end, b.end)}; }

}  // namespace gapscope
