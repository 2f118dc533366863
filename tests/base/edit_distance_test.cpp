#include "core/base/edit_distance.h"

#include <doctest/doctest.h>

using namespace gapscope;

TEST_CASE("the distance of two words is the bytes to add, drop or change") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("why", "why") == 0);
  CHECK(edit_distance("", "why") == 3);
  CHECK(edit_distance("screenshto", "screenshot") == 2);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("sitting", "kitten") == 3);
}
