#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/base/distinct_texts.h"

using namespace gapscope;

TEST_CASE("texts stand once each, in the order in which they first came") {
  DistinctTexts texts;
  for (const char* text : {"b", "a", "b", "", "c", "a"}) texts.add(text);
  CHECK(texts.list() == std::vector<std::string>{"b", "a", "", "c"});
  texts.clear();
  texts.add("a");
  CHECK(texts.list() == std::vector<std::string>{"a"});
}
