#include <string>

#include <doctest/doctest.h>

#include "core/load/number_text.h"

using namespace gapscope;

namespace {
Ns ns(std::string_view token) {
  const ParsedTime t = parse_us(token);
  REQUIRE(t.state == NumberState::ok);
  return t.ns;
}
}  // namespace

TEST_CASE("microseconds become nanoseconds digit by digit") {
  CHECK(ns("4367497539681.444") == 4'367'497'539'681'444);
  CHECK(ns("1700000000000000.001") == 1'700'000'000'000'000'001);  // a double would lose the last digits
  CHECK(ns("0") == 0);
  CHECK(ns("12") == 12'000);
  CHECK(ns("12.5") == 12'500);
  CHECK(ns("-3.25") == -3'250);
}

TEST_CASE("more than three decimals are rounded to the nearest nanosecond, half away from zero") {
  CHECK(ns("1.0004") == 1'000);
  CHECK(ns("1.0005") == 1'001);
  CHECK(ns("1.00049999999999999999") == 1'000);
  CHECK(ns("-1.0005") == -1'001);
  CHECK(ns("0.0004999") == 0);
}

TEST_CASE("exponents are understood") {
  CHECK(ns("1e3") == 1'000'000);
  CHECK(ns("1.5E+2") == 150'000);
  CHECK(ns("12345e-4") == 1'235);
  CHECK(ns("1e-400") == 0);
  CHECK(ns("1e-99999999999") == 0);
  CHECK(ns("0e99999999999") == 0);
}

TEST_CASE("what is no time says why") {
  CHECK(parse_us("NaN").state == NumberState::non_finite);
  CHECK(parse_us("-Infinity").state == NumberState::non_finite);
  CHECK(parse_us("N/A").state == NumberState::non_finite);
  CHECK(parse_us("null").state == NumberState::absent);
  CHECK(parse_us("12x").state == NumberState::absent);
  CHECK(parse_us("1.2.3").state == NumberState::absent);
  CHECK(parse_us("").state == NumberState::absent);
  CHECK(parse_us("1e30").state == NumberState::too_large);
  CHECK(parse_us("99999999999999999999").state == NumberState::too_large);
}

TEST_CASE("a time in quotes is a time, and says so") {
  const ParsedTime t = parse_us("\"12.345\"");
  CHECK(t.state == NumberState::ok);
  CHECK(t.ns == 12'345);
  CHECK(t.was_text);
}

TEST_CASE("integers come from numbers, texts and fractions, but never overflow") {
  CHECK(parse_integer("-1") == -1);
  CHECK(parse_integer("\"7\"") == 7);
  CHECK(parse_integer("7.9") == 7);
  CHECK(!parse_integer("99999999999999999999"));
  CHECK(parse_unsigned("18446744073709551615") == 18446744073709551615u);
  CHECK(!parse_unsigned("-1"));
  CHECK(!parse_unsigned("abc"));
}

TEST_CASE("a time is read exactly whatever its number of digits, and a strange character anywhere in it is seen") {
  const std::string digits = "987654321098765";
  for (std::size_t n = 1; n <= digits.size(); ++n) {
    const std::string token = digits.substr(0, n) + ".012";
    const ParsedTime t = parse_us(token);
    CHECK(t.state == NumberState::ok);
    CHECK(t.ns == std::stoll(digits.substr(0, n)) * 1000 + 12);
    for (std::size_t at = 0; at < token.size(); ++at) {
      for (const char strange : {'/', ':', 'x', '\x80', '?'}) {
        std::string bad = token;
        bad[at] = strange;
        CHECK(parse_us(bad).state == NumberState::absent);
      }
    }
  }
}

TEST_CASE("few digits are read at once, and nothing else is taken for them") {
  const auto few = [](std::string_view token, std::uint64_t& value) {
    std::string text(token);
    text += "\": 99999999";
    return parse_few_digits(std::string_view(text).substr(0, token.size()), text.data() + text.size(), value);
  };
  std::uint64_t value = 1;
  for (const std::uint64_t n : {0ull, 7ull, 42ull, 999ull, 1000ull, 65536ull, 123456ull, 9876543ull, 99999999ull}) {
    REQUIRE(few(std::to_string(n), value));
    CHECK(value == n);
  }
  CHECK(few("007", value));
  CHECK(value == 7);
  for (const char* odd : {"", "123456789", "-1", "1.5", "1e3", "12 ", "/", ":", "1234567:", "/2345678", "\"12\""})
    CHECK_FALSE(few(odd, value));
  const std::string_view at_the_end = "12";
  CHECK_FALSE(parse_few_digits(at_the_end, at_the_end.data() + at_the_end.size(), value));
}
