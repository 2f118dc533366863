#include "core/base/same_text.h"

#include <string>

#include <doctest/doctest.h>

using namespace gapscope;

TEST_CASE("texts are the same when every character is") {
  for (std::size_t n = 0; n <= 70; ++n) {
    std::string a(n, 'x');
    for (std::size_t i = 0; i < n; ++i) a[i] = static_cast<char>('a' + i % 26);
    std::string b = a;
    CHECK(same_text(a, b));
    CHECK_FALSE(same_text(a, b + 'z'));
    for (std::size_t i = 0; i < n; ++i) {
      b[i] = static_cast<char>(b[i] ^ 1);
      CHECK_FALSE(same_text(a, b));
      b[i] = a[i];
    }
  }
}
