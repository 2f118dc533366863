#include "app/serve/request_head.h"

#include <doctest/doctest.h>

#include <string>

using namespace gapscope;

TEST_CASE("a head ends with an empty line") {
  CHECK(head_bytes("GET / HTTP/1.1\r\nHost: a\r\n") == std::string::npos);
  CHECK(head_bytes("GET / HTTP/1.1\n\n") == std::string::npos);
  CHECK(head_bytes("GET / HTTP/1.1\r\n\r\nGET") == 18);
}

TEST_CASE("the library sees a head without its range, and packs nothing") {
  const RequestHead head =
      prepared_head("GET /Range:x HTTP/1.1\r\nrAnGe: \tbytes=0-1 \r\nAccept-Encoding: br\r\nHost: a\r\nX-Range: b\r\n\r\n");
  CHECK(head.text == "GET /Range:x HTTP/1.1\r\nHost: a\r\nX-Range: b\r\n\r\n");
  CHECK(head.range == "bytes=0-1");
  CHECK(head.hosts == 1);
  CHECK_FALSE(head.has_body);
}

TEST_CASE("a line that ends otherwise hides no other line") {
  CHECK(prepared_head("GET / HTTP/1.1\r\nHost: a\r\nX:\ta\xFF\r\n\r\n").is_plain);
  for (const std::string_view hidden : {"\nRange: bytes=5-9", "\rRange: bytes=5-9", "\n", "\x1B", "\x7F", "\x01"})
    CHECK_FALSE(prepared_head("GET / HTTP/1.1\r\nX: a" + std::string(hidden) + "\r\n\r\n").is_plain);
  CHECK_FALSE(prepared_head(std::string("GET / HTTP/1.1\r\nX: \0\r\n\r\n", 24)).is_plain);
}

TEST_CASE("a host is what is there, whatever it means") {
  const RequestHead head =
      prepared_head("GET / HTTP/1.1\r\nHost: localhost%00.evil:1 \r\nORIGIN:http%3A//a\r\nCookie: a=%41\r\ncookie: b\r\n\r\n");
  CHECK(head.host == "localhost%00.evil:1");
  CHECK(head.origin == "http%3A//a");
  CHECK(head.cookie == "a=%41; b");
  CHECK(head.is_plain);
}

TEST_CASE("a line without a name is no line of a head") {
  for (const char* line :
       {"Host : a", "Host\t: a", " Host: a", "\tHost: a", "Host", ": a", "Ho st: a", "\xC3\xA4: a", "(a): b"})
    CHECK_FALSE(prepared_head("GET / HTTP/1.1\r\nHost: a\r\n" + std::string(line) + "\r\n\r\n").is_plain);
  CHECK(prepared_head("GET / HTTP/1.1\r\nHost:a\r\nX-1_a.b~: c: d\r\nEmpty:\r\n\r\n").is_plain);
}

TEST_CASE("a second origin is no origin") {
  CHECK_FALSE(prepared_head("GET / HTTP/1.1\r\nHost: a\r\nOrigin: http://evil\r\nOrigin: http://a\r\n\r\n").is_plain);
  CHECK_FALSE(prepared_head("GET / HTTP/1.1\r\nHost: a\r\nOrigin: http://evil\r\norigin:\r\n\r\n").is_plain);
}

TEST_CASE("hosts are counted, and bodies seen") {
  CHECK(prepared_head("GET / HTTP/1.1\r\n\r\n").hosts == 0);
  CHECK(prepared_head("GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n").hosts == 2);
  CHECK(prepared_head("GET / HTTP/1.1\r\nContent-Length: 1\r\n\r\n").has_body);
  CHECK(prepared_head("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n").has_body);
  CHECK_FALSE(prepared_head("GET / HTTP/1.1\r\nContent-Length: 0\r\n\r\n").has_body);
}
