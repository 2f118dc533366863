#include "core/diagnose/conditions/conditions.h"

#include <doctest/doctest.h>

using namespace gapscope;

TEST_CASE("an average of counts that is whole is written as a count") {
  CHECK(format_average(5) == "5");
  CHECK(format_average(508) == "508");
  CHECK(format_average(1234) == "1,234");
  CHECK(format_average(16.0 / 3) == "5.33");
  CHECK(format_average(0) == "0");
}
