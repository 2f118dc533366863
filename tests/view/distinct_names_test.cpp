#include "core/view/distinct_names.h"

#include <doctest/doctest.h>

#include <set>

#include "core/base/text.h"

using namespace gapscope;

TEST_CASE("names that fit stay whole") {
  const std::vector<std::string> names{"aten::mm", "aten::addmm", "", "aten::mm"};
  CHECK(distinct_names(names, 20) == names);
}

TEST_CASE("of long names what tells them apart remains") {
  const std::string begin = "void at::native::vectorized_elementwise_kernel<4, at::native::",
                    end = "<float>, std::array<char*, 3ul> >(int, std::array<char*, 3ul>)";
  const std::vector<std::string> names{begin + "CUDAFunctor_add" + end, begin + "BinaryFunctor_mul" + end,
                                       begin + "FillFunctor" + end};
  const std::vector<std::string> shown = distinct_names(names, 40);
  const char* parts[] = {"CUDAFunctor_add", "BinaryFunctor_mul", "FillFunctor"};
  for (std::size_t i = 0; i < shown.size(); ++i) {
    CAPTURE(shown[i]);
    CHECK(shown[i].find(parts[i]) != std::string::npos);
    CHECK(utf8_length(shown[i]) <= 40);
    CHECK(utf8_length(shown[i]) >= 36);  // the room is used
  }
}

TEST_CASE("a name without others like it keeps both of its ends") {
  const std::string alone(100, 'x');
  CHECK(distinct_names({alone, "y"}, 20)[0] == elide_middle(alone, 20));
}

TEST_CASE("no width and no names break it, and nothing is wider than its room") {
  const std::vector<std::string> names{
      "aaaaaaaaaaaaaaaaaaaaaaaaaaaa",
      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
      "aaaaaaaaaaaaaab",
      "",
      "\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4",
      "a::b<c, d>::e(f)",
      "a::b<c, d>::g(f)",
      "a::b<c, d>::e(f)"};
  for (std::size_t chars = 1; chars < 40; ++chars) {
    const std::vector<std::string> shown = distinct_names(names, chars);
    REQUIRE(shown.size() == names.size());
    for (const std::string& text : shown) CHECK(utf8_length(text) <= chars);
    CHECK(shown[5] == shown[7]);
  }
  CHECK(distinct_names({}, 10).empty());
}
