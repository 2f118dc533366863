#include "ui/keys.h"

#include <doctest/doctest.h>

#include <set>

using namespace gapscope;

TEST_CASE("every key has a name of its own, in the order of the enum") {
  std::set<std::string_view> seen;
  for (int k = 1; k < static_cast<int>(Key::count); ++k) {
    const auto name = key_name(static_cast<Key>(k));
    CHECK_FALSE(name.empty());
    CHECK(seen.insert(name).second);
  }
  CHECK(key_name(Key::none).empty());
  CHECK(key_name(Key::w) == "W");
  CHECK(key_name(Key::digit_9) == "9");
  CHECK(key_name(Key::f12) == "F12");
  CHECK(key_name(Key::page_up) == "Page up");
  CHECK(key_name(Key::del) == "Delete");
  CHECK(key_name(Key::question) == "?");
  CHECK(key_name(Key::right_bracket) == "]");
}
