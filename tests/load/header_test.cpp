// What is before and after the events: large headers, many members, keys that come twice.
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/support/cpu_time.h"
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
  CHECK(t->report.count(ImportIssue::duplicate_key) == 2);
  REQUIRE(t->header.metadata.size() == 2);
  CHECK(*value_of(*t, "a") == "[3]");
  CHECK(*value_of(*t, "b") == "\"4\"");
}

TEST_CASE("a header's value ends where it ends, however the text comes") {
  const std::string value = R"({"a": "]}\"\\", "b": [1, {"c": "\\\"["}], "d": "{"})";
  const std::string event = slice("x", "1", "1");
  for (const std::string& text :
       {"{\"h\": " + value + ", \"traceEvents\": [" + event + "], \"t\": " + value + ", \"n\": 17 , \"s\": \"a]\"}",
        "{\"traceEvents\": [" + event + "], \"h\": " + value + ", \"t\": " + value + ", \"n\":17, \"s\":\"a]\"}"}) {
    for (const std::size_t batch : {std::size_t{1}, std::size_t{16}, std::size_t{64}, kOneBatch}) {
      const auto t = load_text(text, 1, batch);
      REQUIRE(t->header.metadata.size() == 4);
      CHECK(*value_of(*t, "h") == value);
      CHECK(*value_of(*t, "t") == value);
      CHECK(*value_of(*t, "n") == "17");
      CHECK(*value_of(*t, "s") == "\"a]\"");
      CHECK(t->report.count(ImportIssue::text_after_end) == 0);
    }
  }
}

TEST_CASE("a header of many members, or of one that is large, costs time in proportion to it") {
  const std::string event = "\"traceEvents\": [" + slice("x", "1", "1") + "]";
  const auto texts = [&](int size) {
    const std::string many = members(0, 1000 * size);
    std::string large = "\"large\": [1";
    for (int i = 0; i < 20'000 * size; ++i) large += ", {\"id\": 1}";  // where a block can be cut
    large += "]";
    return std::vector<std::string>{"{" + many + ", " + event + "}", "{" + event + ", " + many + "}",
                                    "{" + event + ", " + large + "}"};
  };
  const std::vector<std::string> small = texts(8), big = texts(64);
  for (std::size_t i = 0; i < small.size(); ++i) {
    CAPTURE(i);
    CHECK(load_text(big[i])->header.metadata.size() == (i == 2 ? 1 : 64'000));
    const auto seconds = [](const std::string& text) { return cpu_seconds([&] { load_text(text, 1, 16 * 1024); }); };
    // 8 times as long; where each member is compared with all before it, or a value looked through again with each batch, 64.
    CHECK(seconds(big[i]) < 24 * seconds(small[i]) + 0.02);
  }
}
