#include <doctest/doctest.h>
#include <sched.h>

#include "core/base/parallel.h"

TEST_CASE("a process that may use one processor of many works with one thread") {
  cpu_set_t before, one;
  REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  CHECK(gapscope::hardware_threads() == CPU_COUNT(&before));
  CPU_ZERO(&one);
  CPU_SET(static_cast<unsigned>(sched_getcpu()), &one);
  REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  CHECK(gapscope::hardware_threads() == 1);
  REQUIRE(sched_setaffinity(0, sizeof before, &before) == 0);
}
