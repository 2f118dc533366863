#pragma once
// A search that starts where the answer is likely near and continues in steps that double: O(log d) where it is d further.
#include <algorithm>
#include <cstddef>

namespace gapscope {

// The first position in [from, stop) for which `holds`, or stop (from, where that is behind); it holds for all that follow.
template <class Holds>
std::size_t first_where(std::size_t from, std::size_t stop, Holds holds) {
  if (from >= stop) return from;
  std::size_t low = from, high = stop;  // the answer is in [low, high]
  for (std::size_t step = 1; high - low >= step; low += step, step *= 2)
    if (holds(low + step - 1)) {
      high = low + step - 1;
      break;
    }
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (holds(middle))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

}  // namespace gapscope
