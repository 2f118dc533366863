#include "core/base/parse_json.h"

#include <doctest/doctest.h>

#include <string>

#include <nlohmann/json.hpp>

using namespace gapscope;

namespace {

std::string repeated(std::string_view text, std::size_t n) {
  std::string out;
  for (std::size_t i = 0; i < n; ++i) out += text;
  return out;
}

std::string nested(std::size_t n) { return repeated("[", n) + repeated("]", n); }

std::string trouble_of(const std::string& text, const JsonLimits& limits = {}) {
  const auto json = parse_json(text, limits);
  return json ? "" : json.error().message;
}

}  // namespace

TEST_CASE("what is JSON comes back as it was written") {
  const auto json = parse_json(R"({"b": [1, "a\"[{:", {"c": null}], "a": 2.5})");
  REQUIRE(json.ok());
  CHECK(json->dump() == R"({"b":[1,"a\"[{:",{"c":null}],"a":2.5})");
}

TEST_CASE("what is no JSON is said to be none") {
  for (const char* text : {"", "{", "[1,]", "nan", "[1] 2", "\"\\", "]]]]", "{\"a\": 1e999}", "\xFF"})
    CHECK(trouble_of(text) == "no JSON");
}

TEST_CASE("the deepest nesting is read, one more is refused, however deep it goes") {
  CHECK(trouble_of(nested(64)).empty());
  CHECK(trouble_of(nested(65)) == "JSON that is nested deeper than 64 levels");
  CHECK(trouble_of(repeated(R"({"a":)", 200'000)) == "JSON that is nested deeper than 64 levels");
  CHECK(trouble_of("[" + repeated("[],", 100'000) + "[]]").empty());
  CHECK(trouble_of("\"" + repeated("[", 100'000) + "\"").empty());
}

TEST_CASE("an object has a most of members, each list as many as it likes") {
  const JsonLimits limits{1000, 64, 3};
  CHECK(trouble_of(R"({"a":1,"b":{"x":1,"y":2,"z":3},"c":3})", limits).empty());
  CHECK(trouble_of(R"({"a":1,"b":2,"c":3,"d":4})", limits) == "JSON with more than 3 members in one object");
  CHECK(trouble_of("[" + repeated("{\"a\":1},", 9) + "0]", limits).empty());
}

TEST_CASE("a text may have so many bytes and no more") {
  CHECK(trouble_of("[1,2]", {5}).empty());
  CHECK(trouble_of("[1,2] ", {5}) == "JSON of more than 5 B");
}
