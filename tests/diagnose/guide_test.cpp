#include "core/diagnose/guide.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace gapscope;

TEST_CASE("a rule's section of the guide is its title and its text, up to the next heading") {
  const GuideSection section = guide_section("overhead_bound");
  CHECK(section.title == "The host cannot feed the GPU");
  CHECK(section.text.starts_with("Compare the CPU time"));
  CHECK(section.text.find('#') == std::string_view::npos);
  CHECK(guide_section("no_such_rule").title.empty());
  CHECK(guide_section("").text.empty());
}

TEST_CASE("paragraphs come in pieces, and what is in back-ticks is code") {
  const auto paragraphs = guide_paragraphs("See `cudaMemcpy` here.\n\nThen\nthat.");
  REQUIRE(paragraphs.size() == 2);
  REQUIRE(paragraphs[0].size() == 3);
  CHECK(paragraphs[0][1].text == "cudaMemcpy");
  CHECK(paragraphs[0][1].code);
  CHECK_FALSE(paragraphs[0][2].code);
  CHECK(paragraphs[1][0].text == "Then\nthat.");
  CHECK(guide_paragraphs("").empty());
}

TEST_CASE("every page has a title and a name of its own") {
  REQUIRE(guide_pages().size() >= 14);
  for (const GuidePage& page : guide_pages()) {
    CAPTURE(std::string(page.name));
    CHECK(page.text.starts_with("# "));
    CHECK_FALSE(page.title.empty());
    CHECK(guide_page(page.name) == &page);
  }
  CHECK(guide_page("no-such-page") == nullptr);
  CHECK(guide_section("whatif").text.find("replays") != std::string_view::npos);  // on a page other than the findings
}

TEST_CASE("a page is read as blocks: lines are joined, links are their text, code and pictures are left out of that") {
  using Kind = GuideBlock::Kind;
  const auto blocks = guide_blocks(
      "# Title\n\nSee [the page](a.md) and\n**this** `a[0](x)`.\n- one\n  more\n- two\n\n![picture](p.png)\n<!-- no -->\n"
      "| a | b |\n|---|---|\n| `c` | d |\n```sh\n# no heading\n\n  x | y\n```\n### <a id=\"r\"></a>Rule\nEnd");
  REQUIRE(blocks.size() == 9);
  CHECK(blocks[0].kind == Kind::heading);
  CHECK(blocks[0].level == 1);
  CHECK(blocks[1].cells[0] == "See the page and this `a[0](x)`.");
  CHECK(blocks[2].kind == Kind::item);
  CHECK(blocks[2].cells[0] == "one more");
  CHECK(blocks[4].kind == Kind::row);
  CHECK(blocks[5].cells == std::vector<std::string>{"`c`", "d"});
  CHECK(blocks[6].kind == Kind::code);
  CHECK(blocks[6].cells[0] == "# no heading\n\n  x | y");
  CHECK(blocks[7].cells[0] == "Rule (r)");
  CHECK(blocks[8].cells[0] == "End");
  CHECK(guide_blocks("").empty());
  CHECK(guide_blocks("| a\n```").size() == 2);  // cut off
}
