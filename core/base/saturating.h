#pragma once
// Sums of what a damaged or hostile file says: they stop at the largest (or the least) number instead of overflowing, which
// would turn a huge time into a negative one.
#include <cstdint>
#include <limits>

namespace gapscope {

constexpr void add_saturating(std::int64_t& sum, std::int64_t more) {
  if (__builtin_add_overflow(sum, more, &sum))
    sum = more < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
}
constexpr void subtract_saturating(std::int64_t& sum, std::int64_t less) {
  if (__builtin_sub_overflow(sum, less, &sum))
    sum = less > 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
}
constexpr std::int64_t sum_saturating(std::int64_t a, std::int64_t b) {
  add_saturating(a, b);
  return a;
}
constexpr std::int64_t difference_saturating(std::int64_t a, std::int64_t b) {
  subtract_saturating(a, b);
  return a;
}

}  // namespace gapscope
