#include "app/serve/byte_range.h"

#include <doctest/doctest.h>

#include <string>

#include <fmt/format.h>

using namespace gapscope;

namespace {

// "2+3": three bytes from 2; "none"; "whole".
std::string said(std::string_view header, std::uint64_t size = 10) {
  const ByteRange range = byte_range(header, size);
  if (range.kind == ByteRange::Kind::whole) return "whole";
  return range.kind == ByteRange::Kind::none ? "none" : fmt::format("{}+{}", range.first, range.bytes);
}

}  // namespace

TEST_CASE("one range of bytes, as RFC 9110 has it") {
  CHECK(said("bytes=0-0") == "0+1");
  CHECK(said("bytes=2-4") == "2+3");
  CHECK(said("bytes=2-") == "2+8");
  CHECK(said("bytes=9-") == "9+1");
  CHECK(said("bytes=5-99") == "5+5");
  CHECK(said("bytes=-3") == "7+3");
  CHECK(said("bytes=-99") == "0+10");
  CHECK(said("BYTES=1-2") == "1+2");
  CHECK(said("bytes=0-99999999999999999999999") == "0+10");
}

TEST_CASE("beyond the end there is none") {
  CHECK(said("bytes=10-") == "none");
  CHECK(said("bytes=10-12") == "none");
  CHECK(said("bytes=99999999999999999999999-") == "none");
  CHECK(said("bytes=-0") == "none");
  CHECK(said("bytes=0-", 0) == "none");
  CHECK(said("bytes=-5", 0) == "none");
}

TEST_CASE("what is not understood, and several ranges, are answered whole") {
  for (const char* header : {"", "bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=4-2", "bytes=1-2,4-5", "bytes=1-2, 4-5",
                             "items=0-1", "bytes=+1-2", "bytes=1--2", "bytes= 1-2", "bytes=1 -2", "bytes=0x1-2"})
    CHECK_MESSAGE(said(header) == "whole", header);
}
