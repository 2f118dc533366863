#include "app/serve/access.h"

#include <doctest/doctest.h>

#include <string>

using namespace gapscope;

namespace {

using Answer = Access::Answer;

const std::string kToken = "0123456789abcdef0123456789abcdef", kCookie = "gapscope_x=" + kToken;

Access of(const std::string& bind) { return {kToken, "gapscope_x", names_of(bind, "Node7.cluster"), is_every_address(bind)}; }

}  // namespace

TEST_CASE("whoever has the cookie, or the token, is let in, and no one else") {
  const Access access = of("127.0.0.1");
  CHECK(access.check("localhost:8080", "", kCookie, "") == Answer::granted);
  CHECK(access.check("localhost:8080", "", "a=b; " + kCookie + "; c=d", "") == Answer::granted);
  CHECK(access.check("localhost:8080", "", "", kToken) == Answer::by_token);
  for (const std::string& cookie :
       {std::string(), "gapscope_x=" + kToken.substr(1), "gapscope_x=" + kToken + "0", "gapscope_y=" + kToken,
        "xgapscope_x=" + kToken, std::string("gapscope_x="), std::string(";;=")}) {
    CAPTURE(cookie);
    CHECK(access.check("localhost:8080", "", cookie, "") == Answer::no_token);
  }
  CHECK(access.check("localhost", "", "", kToken.substr(1)) == Answer::no_token);
}

TEST_CASE("a server answers to its own names alone, at any port, since a tunnel may have another one") {
  const Access access = of("127.0.0.1");
  for (const char* host : {"localhost", "LOCALHOST:1", "127.0.0.1:65535", "[::1]:8080"})
    CHECK_MESSAGE(access.check(host, "", kCookie, "") == Answer::granted, host);
  for (const char* host : {"", "evil.example", "localhost.evil.example", "evil.example:8080", "localhost:80:80", "localhost:x",
                           "192.168.0.1", "[::1", "Node7.cluster"})
    CHECK_MESSAGE(access.check(host, "", kCookie, "") == Answer::wrong_host, host);
}

TEST_CASE("where all addresses are listened at, each is a name, and so is the machine's") {
  for (const char* bind : {"0.0.0.0", "::"}) {
    const Access access = of(bind);
    for (const char* host : {"192.168.0.1:8080", "[fe80::1]:8080", "node7.cluster:8080", "localhost"})
      CHECK_MESSAGE(access.check(host, "", kCookie, "") == Answer::granted, host);
    for (const char* host : {"evil.example", "1.2.3.4.evil.example", "[x]"})
      CHECK_MESSAGE(access.check(host, "", kCookie, "") == Answer::wrong_host, host);
  }
  CHECK(of("192.168.0.9").check("192.168.0.9:80", "", kCookie, "") == Answer::granted);
  CHECK(of("192.168.0.9").check("192.168.0.8:80", "", kCookie, "") == Answer::wrong_host);
  CHECK(of("fe80::2").check("[fe80::2]:80", "", kCookie, "") == Answer::granted);
}

TEST_CASE("another site's page is refused, whatever it brings") {
  const Access access = of("127.0.0.1");
  CHECK(access.check("localhost:8080", "http://localhost:8080", kCookie, "") == Answer::granted);
  for (const char* origin :
       {"null", "http://evil.example", "http://localhost:8081", "https://localhost:8080", "http://127.0.0.1:8080"})
    CHECK_MESSAGE(access.check("localhost:8080", origin, kCookie, kToken) == Answer::wrong_origin, origin);
}

TEST_CASE("a token is another one each time, and the cookie is hidden from scripts and other sites") {
  const std::string token = random_token();
  CHECK(token.size() == 32);
  CHECK(token.find_first_not_of("0123456789abcdef") == std::string::npos);
  CHECK(token != random_token());
  CHECK(of("127.0.0.1").set_cookie() == kCookie + "; Path=/; HttpOnly; SameSite=Strict");
}
