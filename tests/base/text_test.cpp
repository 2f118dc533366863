#include <limits>

#include <doctest/doctest.h>

#include "core/base/text.h"

using namespace gapscope;

TEST_CASE("durations are read with three significant digits and the next unit at a thousand") {
  CHECK(format_duration(0) == "0 ns");
  CHECK(format_duration(999) == "999 ns");
  CHECK(format_duration(1'000) == "1.00 µs");
  CHECK(format_duration(12'345) == "12.3 µs");
  CHECK(format_duration(123'456) == "123 µs");
  CHECK(format_duration(999'600) == "1.00 ms");
  CHECK(format_duration(1'210'000) == "1.21 ms");
  CHECK(format_duration(2'050'000'000) == "2.05 s");
  CHECK(format_duration(200 * kNsPerS) == "3 min 20 s");
  CHECK(format_duration(-1'500) == "-1.50 µs");
  CHECK(format_duration(std::numeric_limits<Ns>::min()).front() == '-');
}

TEST_CASE("exact durations keep every nanosecond") {
  CHECK(format_duration_exact(1'234'567) == "1,234.567 µs");
  CHECK(format_duration_exact(7) == "0.007 µs");
  CHECK(format_file_us(4'367'497'539'681'444) == "4367497539681.444");
}

TEST_CASE("bytes, counts and shares") {
  CHECK(format_bytes(0) == "0 B");
  CHECK(format_bytes(49'152) == "49.2 kB");
  CHECK(format_bytes(1'500'000'000) == "1.50 GB");
  CHECK(format_bytes(999'600) == "1.00 MB");
  CHECK(format_count(4'460'123) == "4,460,123");
  CHECK(format_count(-999) == "-999");
  CHECK(format_percent(0.1234) == "12.3 %");
  CHECK(format_percent(-0.0001) == "0.0 %");
  CHECK(format_percent(0) == "0.0 %");
  CHECK(format_percent(0.000189) == "0.019 %");
  CHECK(format_percent(0.000001) == "<0.001 %");
  CHECK(format_percent(std::numeric_limits<double>::quiet_NaN()) == "-");
}

TEST_CASE("a name cannot steer a terminal") {
  CHECK(printable("a\x1b[31mb") == "a\xEF\xBF\xBD[31mb");
  CHECK(printable("\xC2\x9B"
                  "1m") ==
        "\xEF\xBF\xBD"
        "1m");
  CHECK(printable("gr\xC3\xBC\xC3\x9F") == "gr\xC3\xBC\xC3\x9F");
  // What is no UTF-8, or only its begin: an 8-bit terminal takes 0x9B for the begin of a command.
  for (const char* broken : {"\x9B", "\xC2", "\xC0", "\xFF"})
    CHECK(printable(std::string("a") + broken + "31m") ==
          "a\xEF\xBF\xBD"
          "31m");
  CHECK(printable("\xED\xA0\x80") == "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");  // a surrogate
  CHECK(printable("\xE0\x82\x9B") == "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");  // U+009B in three bytes
}

TEST_CASE("what turns the direction of writing, breaks lines or is nothing to be seen is shown") {
  for (const char* hidden : {"\xE2\x80\xAE", "\xE2\x80\xAA", "\xE2\x81\xA6", "\xE2\x81\xA9", "\xE2\x80\xA8", "\xE2\x80\xA9",
                             "\xE2\x80\x8B", "\xE2\x80\x8F", "\xD8\x9C", "\xEF\xBB\xBF",
                             // A soft hyphen, a word joiner, a letter of a tag, an annotation's begin, the Mongolian separator.
                             "\xC2\xAD", "\xE2\x81\xA0", "\xF3\xA0\x81\x81", "\xEF\xBF\xB9", "\xE1\xA0\x8E"})
    CHECK(printable(std::string("gemm") + hidden + "xcod") == "gemm\xEF\xBF\xBDxcod");
  // An ellipsis, a dash, a joiner of emoji, an arrow, a Chinese character, a rocket.
  for (const char* seen : {"\xE2\x80\xA6", "\xE2\x80\x93", "\xE2\x80\x8D", "\xE2\x86\x92", "\xE4\xB8\xAD", "\xF0\x9F\x9A\x80"})
    CHECK(printable(seen) == seen);
}

TEST_CASE("long names are cut in the middle and never inside a character") {
  CHECK(elide_middle("abcdef", 6) == "abcdef");
  CHECK(elide_middle("abcdefgh", 5) == "ab\xE2\x80\xA6gh");
  CHECK(elide_middle("\xC3\xBC\xC3\xBC\xC3\xBC\xC3\xBC", 3) == "\xC3\xBC\xE2\x80\xA6\xC3\xBC");
  CHECK(elide_middle("abc", 0).empty());
}
