#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdlib>

namespace gapscope::test {

// How many damaged files a test tries: `usual`, or GAPSCOPE_FLIPS: few under a slow sanitizer, 100000 by hand.
inline int flips(int usual) {
  const char* wanted = std::getenv("GAPSCOPE_FLIPS");
  return wanted != nullptr ? std::max(1, std::atoi(wanted)) : usual;
}

// Between the sizes to which a test cuts a file of `size` bytes: 1 as a rule, more where fewer flips are wanted.
inline std::size_t step_of_cuts(std::size_t size, int usual) {
  return flips(usual) < usual ? 1 + size / static_cast<std::size_t>(flips(usual)) : 1;
}

}  // namespace gapscope::test
