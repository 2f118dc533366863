#include "core/view/distinct_names.h"

#include <doctest/doctest.h>

#include <set>

#include "core/base/text.h"

using namespace gapscope;

TEST_CASE("names that fit stay whole") {
  const std::vector<std::string> names{"aten::mm", "aten::addmm", "", "aten::mm"};
  CHECK(distinct_names(names, 20) == names);
}

TEST_CASE("of long names what distinguishes them remains") {
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

TEST_CASE("a name that is cut still says of what it is: it begins as it does, and is cut in as few places as can be") {
  const std::vector<std::string> names{"nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_NTT",
                                       "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NTT",
                                       "bmm_MxE4m3_MxE2m1MxE4m3_Fp32_bA128_bC16_aOpt_clmp_swiGlu_dynB_sm100f",
                                       "bmm_Bfloat16_MxE2m1MxE4m3_Fp32_bA128_bC16_aOpt_clmp_swiGlu_dynB_sm100f",
                                       "elementwise_kernel<sgd, bf16>",
                                       "elementwise_kernel<add, fp32>"};
  for (std::size_t chars = 16; chars < 60; ++chars) {
    CAPTURE(chars);
    const std::vector<std::string> shown = distinct_names(names, chars);
    for (std::size_t i = 0; i < names.size(); ++i) {
      CAPTURE(shown[i]);
      CHECK(shown[i].substr(0, 3) == names[i].substr(0, 3));
      CHECK(utf8_length(shown[i]) <= chars);
      std::size_t cuts = 0;
      for (std::size_t at = 0; (at = shown[i].find("\xE2\x80\xA6", at)) != std::string::npos; ++at) ++cuts;
      CHECK(cuts <= 2);
      for (std::size_t k = 0; k < i; ++k) CHECK(shown[i] != shown[k]);
    }
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
