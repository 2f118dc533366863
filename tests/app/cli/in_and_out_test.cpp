#include "app/cli/in_and_out.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

using namespace gapscope;

TEST_CASE("what a name could steer a terminal with is escaped in JSON, and is the same name to who reads it") {
  const nlohmann::ordered_json json = {{"name", "a\x1b[31m\x7F\xC2\x9B\xE2\x80\xAE\xEF\xBB\xBF\xF3\xA0\x81\x81z\n\xC3\xBC"},
                                       {"list", {1, 2}}};
  const std::string text = json_text(json);
  CHECK(text.find("a\\u001b[31m\\u007f\\u009b\\u202e\\ufeff\\udb40\\udc41z\\n\xC3\xBC") != std::string::npos);
  CHECK(nlohmann::ordered_json::parse(text) == json);
  CHECK(json_text(json, -1).find('\n') + 1 == json_text(json, -1).size());
}
