#include "core/base/base64.h"

#include <string>

#include <doctest/doctest.h>

using namespace gapscope;

TEST_CASE("base64 is that of RFC 4648") {
  CHECK(base64_text("").empty());
  CHECK(base64_text("f") == "Zg==");
  CHECK(base64_text("fo") == "Zm8=");
  CHECK(base64_text("foo") == "Zm9v");
  CHECK(base64_text("foob") == "Zm9vYg==");
  CHECK(base64_text("fooba") == "Zm9vYmE=");
  CHECK(base64_text("foobar") == "Zm9vYmFy");
  CHECK(base64_text(std::string("\0\xFF\xFB\x7F", 4)) == "AP/7fw==");
}
