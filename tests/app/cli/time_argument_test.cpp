#include <doctest/doctest.h>

#include "app/cli/time_argument.h"

using namespace gapscope;

TEST_CASE("a number is a time of the trace, one with a unit is a time after its begin") {
  CHECK(parse_time_argument("4367497539681444", 7) == 4367497539681444);
  CHECK(parse_time_argument("1.2ms", 1000) == 1'201'000);
  CHECK(parse_time_argument("1.2 ms", 1000) == 1'201'000);
  CHECK(parse_time_argument("5ns", 10) == 15);
  CHECK(parse_time_argument("0.0015us", 0) == 1);
  CHECK(parse_time_argument("2s", 0) == 2'000'000'000);
  CHECK(parse_time_argument("-1us", 5000) == 4000);
}

TEST_CASE("what is no time is none") {
  for (const char* text : {"", "ms", "x", "1.5", "1e3ms", "1.-5ms", "99999999999s", ".5ms", "5 minutes"}) {
    CAPTURE(text);
    CHECK(!parse_time_argument(text, 1000));
  }
}

TEST_CASE("a window is read from both of its ends, and says which is wrong") {
  constexpr Span kWhole{1000, 9'000'000};
  CHECK(*parse_window("", "", kWhole) == kWhole);
  CHECK(*parse_window("1ms", "", kWhole) == Span{1'001'000, 9'000'000});
  CHECK(*parse_window("2000", "3us", kWhole) == Span{2000, 4000});
  CHECK(parse_window("soon", "", kWhole).error().message.starts_with("--from: \"soon\" is not a time"));
  CHECK(parse_window("", "later", kWhole).error().message.starts_with("--to: \"later\" is not a time"));
  CHECK(parse_window("3us", "2us", kWhole).error().message ==
        "The window is empty: --from (4000 ns) must be before --to (3000 ns).");
}
