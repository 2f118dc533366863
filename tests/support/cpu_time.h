#pragma once
// How long something takes on the processor, for tests of how time grows: a ratio of two such times is the same under
// sanitizers and on a busy machine, as far as times can be.
#include <algorithm>
#include <ctime>

namespace gapscope::test {

// The least of three runs, in seconds of all threads.
template <class Work>
double cpu_seconds(Work work) {
  double least = 1e9;
  for (int run = 0; run < 3; ++run) {
    const std::clock_t begin = std::clock();
    work();
    least = std::min(least, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return least;
}

}  // namespace gapscope::test
