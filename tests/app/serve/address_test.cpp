#include "app/serve/address.h"

#include <doctest/doctest.h>

#include <string>

using namespace gapscope;

TEST_CASE("an address is decoded once") {
  const auto address = parse_address("/file/a%20b+c%2Fd?x=1+2&y=%26&x=3&flag#part");
  REQUIRE(address);
  CHECK(address->path == "/file/a b+c/d");
  CHECK(address->value("x") == "1 2");
  CHECK(address->value("y") == "&");
  CHECK(address->value("flag").empty());
  CHECK(address->value("nothing").empty());
  CHECK(address->values.size() == 4);
  CHECK(parse_address("/%252e%252e/")->path == "/%2e%2e/");
}

TEST_CASE("what is no address is none") {
  for (const char* text :
       {"", "*", "a", "http://evil/", "//evil/", "/%2Fevil", "/%", "/%4", "/%zz", "/%-1", "/a%00b", "/?a=%00", "/?a=%"})
    CHECK_MESSAGE(!parse_address(text), text);
}

TEST_CASE("an address gives back every byte of a name") {
  std::string name;
  for (int byte = 1; byte < 256; ++byte) name += static_cast<char>(byte);
  CHECK(parse_address("/x" + address_text(name))->path == "/x" + name);
  CHECK(parse_address("/?name=" + address_text(name))->value("name") == name);
  for (const char c : address_text(name)) CHECK((c > ' ' && c < 127 && c != '"' && c != '<' && c != '&' && c != '\''));
}
