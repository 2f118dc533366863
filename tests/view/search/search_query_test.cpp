#include "core/view/search/search_query.h"

#include <doctest/doctest.h>

#include "core/base/time_text.h"
#include "core/view/timeline/go_to_time.h"

using namespace gapscope;

namespace {

std::string trouble_of(std::string_view text, bool regex = false) {
  const Result<SearchQuery> query = parse_query(text, regex);
  return query ? "" : query.error().message;
}

}  // namespace

TEST_CASE("words, quoted words and filters are distinguished") {
  const Result<SearchQuery> query =
      parse_query(R"(gemm "two words" lane:"stream 7" cat:kernel dur>1ms dur<=20ms at::native dur::x)");
  REQUIRE(query);
  CHECK(query->words == std::vector<std::string>{"gemm", "two words", "at::native", "dur::x"});
  CHECK(query->lanes == std::vector<std::string>{"stream 7"});
  CHECK(query->categories == std::vector<std::string>{"kernel"});
  CHECK(query->least == 1'000'001);
  CHECK(query->most == 20'000'000);
}

TEST_CASE("a duration takes every sign and unit") {
  CHECK(parse_query("dur=5us")->least == 5'000);
  CHECK(parse_query("dur=5us")->most == 5'000);
  CHECK(parse_query("dur>=5s")->least == 5'000'000'000);
  CHECK(parse_query("dur<5ns")->most == 4);
  CHECK(parse_query("DUR<=1.5\xC2\xB5s")->most == 1'500);
}

TEST_CASE("a pattern is between slashes, and what has only one slash is a word") {
  const Result<SearchQuery> query = parse_query("/a b+/ /usr/lib x");
  REQUIRE(query);
  CHECK(query->patterns.size() == 1);
  CHECK(query->words == std::vector<std::string>{"/usr/lib", "x"});
  CHECK(name_matches(*query, "X /USR/LIB A BBB"));
  CHECK_FALSE(name_matches(*query, "x /usr/lib ab"));
}

TEST_CASE("slashes around all of a regular expression are no part of it") {
  const Result<SearchQuery> query = parse_query("/gemm.*64/", true);
  REQUIRE(query);
  CHECK(name_matches(*query, "gemm_128x64"));
  CHECK_FALSE(name_matches(*query, "relu_128x64"));
  const Result<SearchQuery> path = parse_query("/usr/.*py", true);
  CHECK(name_matches(*path, "/usr/lib/x.py"));
  CHECK_FALSE(name_matches(*path, "usr.lib/x.py"));
}

TEST_CASE("all words must be in a name, whatever the case") {
  const Result<SearchQuery> query = parse_query("GEMM 128");
  CHECK(name_matches(*query, "sgemm_128x64"));
  CHECK_FALSE(name_matches(*query, "sgemm_64x64"));
}

TEST_CASE("what cannot be read is answered by a sentence that says what is allowed") {
  CHECK(trouble_of("dur>1xs") == "dur>1xs cannot be read: write dur>1ms, >=, <, <= or =, with ns, us, ms or s.");
  CHECK(trouble_of("gemm lane:") == "lane: needs a name after it: lane:\"stream 7\" or cat:kernel.");
  CHECK(trouble_of("/a(b/") ==
        "/a(b/ is not a regular expression: is a bracket or parenthesis left open? Put \\ before a sign to match the sign "
        "itself.");
  CHECK(
      trouble_of("[", true) ==
      "/[/ is not a regular expression: is a bracket or parenthesis left open? Put \\ before a sign to match the sign itself.");
}

TEST_CASE("a pattern that other matchers never finish is finished") {
  const Result<SearchQuery> query = parse_query("(a+)+$", true);
  REQUIRE(query);
  std::string name(2000, 'a');  // not a sum of two texts: GCC 12 says that it reads beyond them
  name += 'b';
  CHECK_FALSE(name_matches(*query, name));
}

TEST_CASE("durations are read to the nanosecond") {
  CHECK(parse_duration("12.5ms") == 12'500'000);
  CHECK(parse_duration("1.2 s") == 1'200'000'000);
  CHECK(parse_duration("830us") == 830'000);
  CHECK(parse_duration("830\xC2\xB5s") == 830'000);
  CHECK(parse_duration("830 \xCE\xBCs") == 830'000);
  CHECK(parse_duration("1,234.567 US") == 1'234'567);
  CHECK(parse_duration(".5ms") == 500'000);
  for (const char* text : {"", "ms", "5", "5 hours", "-5ms", "1.2.3ms", "9999999999999s"})
    CHECK_MESSAGE(!parse_duration(text), text);
}

TEST_CASE("a time to go to counts from the start with a unit, and on the trace's clock without") {
  const Span trace{5'000'000'000, 5'900'000'000};
  CHECK(*parse_time_point("12.5ms", trace) == 5'012'500'000);
  CHECK(*parse_time_point("5,000,000,830", trace) == 5'000'000'830);
  CHECK(*parse_time_point("830", trace) == 5'000'000'830);
  CHECK(parse_time_point("soon", trace).error().message ==
        "soon is no time: write 12.5ms, 1.2 s or 830us from the start, or whole nanoseconds.");
  CHECK(parse_time_point("2s", trace).error().message == "2s is after the end of the trace, which is 900 ms long.");
}
