#include "core/diagnose/guide.h"

#include <doctest/doctest.h>

#include <string>

using namespace gapscope;

TEST_CASE("a rule's section of the guide is its title and its text, up to the next heading") {
  const GuideSection section = guide_section("overhead_bound");
  CHECK(section.title == "The host cannot feed the GPU");
  CHECK(section.text.starts_with("Compare the CPU time"));
  CHECK(section.text.find('#') == std::string_view::npos);
  CHECK(guide_section("no_such_rule").title.empty());
  CHECK(guide_section("").text.empty());
}

TEST_CASE("paragraphs come in pieces, and what stands in back-ticks is code") {
  const auto paragraphs = guide_paragraphs("See `cudaMemcpy` here.\n\nThen\nthat.");
  REQUIRE(paragraphs.size() == 2);
  REQUIRE(paragraphs[0].size() == 3);
  CHECK(paragraphs[0][1].text == "cudaMemcpy");
  CHECK(paragraphs[0][1].code);
  CHECK_FALSE(paragraphs[0][2].code);
  CHECK(paragraphs[1][0].text == "Then\nthat.");
  CHECK(guide_paragraphs("").empty());
}
