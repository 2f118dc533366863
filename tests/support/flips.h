#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string_view>

namespace gapscope::test {

// How many damaged files a test tries: a fifth of `all`, which tests/nightly tries (GAPSCOPE_NIGHTLY=1); or GAPSCOPE_FLIPS: few
// under a slow sanitizer, 100000 by hand.
inline int flips(int all) {
  if (const char* wanted = std::getenv("GAPSCOPE_FLIPS")) return std::max(1, std::atoi(wanted));
  const char* nightly = std::getenv("GAPSCOPE_NIGHTLY");
  return nightly != nullptr && std::string_view(nightly) == "1" ? all : std::max(1, all / 5);
}

// Between the sizes to which a test cuts a file of `size` bytes: 1 as a rule, more where fewer flips are wanted.
inline std::size_t step_of_cuts(std::size_t size, int all) {
  return flips(all) < all ? 1 + size / static_cast<std::size_t>(flips(all)) : 1;
}

}  // namespace gapscope::test
