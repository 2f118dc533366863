#include <doctest/doctest.h>

#include "core/base/phrase.h"

using namespace gapscope;

TEST_CASE("a count has its noun in the right number") {
  CHECK(counted(1, "kernel") == "1 kernel");
  CHECK(counted(0, "kernel") == "0 kernels");
  CHECK(counted(12'345, "GPU operation") == "12,345 GPU operations");
  CHECK(counted(2, "launch") == "2 launches");
  CHECK(counted(2, "copy") == "2 copies");
  CHECK(counted(2, "copy of weights") == "2 copies of weights");
}

TEST_CASE("a part of a whole is never all of it or nothing when it is not") {
  CHECK(format_part(1'234, 10'000) == "12.3 %");
  CHECK(format_part(10'000, 10'000) == "100.0 %");
  CHECK(format_part(9'999, 10'000) == ">99.9 %");
  CHECK(format_part(9'994, 10'000) == "99.9 %");
  CHECK(format_part(0, 10'000) == "0.0 %");
  CHECK(format_part(1, 10'000) == "0.01 %");
  CHECK(format_part(20'000, 10'000) == "200.0 %");
  CHECK(format_part(1, 0).empty());
  CHECK(format_part(1, 0, "-") == "-");
}
