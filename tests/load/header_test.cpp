// What stands before and after the events: large headers, many members, keys that come twice.
#include <ctime>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/support/load_text.h"
#include "tests/support/piecewise_load.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

std::string members(int from, int to) {
  std::string text;
  for (int i = from; i < to; ++i) text += fmt::format("{}\"key {}\": {}", i > from ? ", " : "", i, i);
  return text;
}

const std::string* value_of(const Trace& t, std::string_view key) {
  for (const auto& [name, value] : t.header.metadata)
    if (name == key) return &value;
  return nullptr;
}

}  // namespace

TEST_CASE("of a header's key that comes twice the later value counts, before and after the events") {
  const auto t = load_text("{\"a\": 1, \"b\": 2, \"a\": [3], \"traceEvents\": [" + slice("x", "1", "1") + "], \"b\": \"4\"}");
  CHECK(t->report.count(Oddity::duplicate_key) == 2);
  REQUIRE(t->header.metadata.size() == 2);
  CHECK(*value_of(*t, "a") == "[3]");
  CHECK(*value_of(*t, "b") == "\"4\"");
}

TEST_CASE("a header's value ends where it ends, however the text comes") {
  const std::string value = R"({"a": "]}\"\\", "b": [1, {"c": "\\\"["}], "d": "{"})";
  const std::string event = slice("x", "1", "1");
  for (const std::string& text : {"{\"h\": " + value + ", \"traceEvents\": [" + event + "], \"t\": " + value + ", \"n\": 17 , \"s\": \"a]\"}",
                                  "{\"traceEvents\": [" + event + "], \"h\": " + value + ", \"t\": " + value + ", \"n\":17, \"s\":\"a]\"}"}) {
    for (const std::size_t batch : {std::size_t{1}, std::size_t{16}, std::size_t{64}, kOneBatch}) {
      const auto t = load_text(text, 1, batch);
      REQUIRE(t->header.metadata.size() == 4);
      CHECK(*value_of(*t, "h") == value);
      CHECK(*value_of(*t, "t") == value);
      CHECK(*value_of(*t, "n") == "17");
      CHECK(*value_of(*t, "s") == "\"a]\"");
      CHECK(t->report.count(Oddity::text_after_end) == 0);
    }
  }
}

TEST_CASE("a header of many members, or of one that is large, costs time in proportion to it") {
  const std::string event = "\"traceEvents\": [" + slice("x", "1", "1") + "]";
  const std::string many = members(0, 60'000);
  const std::string large = "\"large\": [" + std::string(std::size_t{16} << 20, ' ') + "1]";
  for (const std::string& text : {"{" + many + ", " + event + "}", "{" + event + ", " + many + "}", "{" + event + ", " + large + "}"}) {
    const std::clock_t start = std::clock();
    const auto t = load_text(text, 1, 16 * 1024);
    // 0.1 s. Where each member is compared with all before it, or a value is looked through again with each batch, 4 s.
    CHECK(std::clock() - start < CLOCKS_PER_SEC);
    CHECK(t->header.metadata.size() == (text.size() > large.size() ? 1 : 60'000));
  }
}
