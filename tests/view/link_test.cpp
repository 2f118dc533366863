#include "core/view/link.h"

#include <doctest/doctest.h>

using namespace gapscope;

TEST_CASE("a link says file, time and slice, and is read back as it was written") {
  const ViewLink links[] = {{"/data/t.json.gz", Span{120, 4500}, SliceId(17), std::nullopt, {}},
                            {"/a b/%41 \xC3\xA4?&=#.json", std::nullopt, {}, std::nullopt, {}},
                            {"/t.json", Span{-5, 9}, {}, std::nullopt, {}},
                            {"/t.json", std::nullopt, SliceId(0), std::nullopt, {}},
                            {"/t.json", Span{1, 9}, {}, Span{-2, 4}, {}},
                            {"/t.json", std::nullopt, {}, Span{200, 900}, {LaneId(0), LaneId(3)}}};
  for (const ViewLink& link : links) {
    CAPTURE(link_text(link));
    CHECK(link_text(link).find(' ') == std::string::npos);
    CHECK(parse_link("  " + link_text(link) + "\n") == link);
  }
  CHECK(link_text(links[0]) == "gapscope:///data/t.json.gz?from=120&to=4500&slice=17");
  CHECK(link_text(links[5]) == "gapscope:///t.json?marked=200..900&lanes=0,3");
}

TEST_CASE("what is no link is none, and what a link cannot say is left out") {
  for (const char* text :
       {"", "/data/t.json", "gapscope://", "gapscope://t.json", "gapscope:///t%0", "gapscope:///t%00x", "gapscope:///t%ZZ"})
    CHECK_FALSE(parse_link(text));
  const std::optional<ViewLink> odd = parse_link("gapscope:///t.json?from=9&to=3&slice=-1&x=y&marked=7..7&lanes=3,1&&=");
  REQUIRE(odd);
  CHECK_FALSE(odd->time);
  CHECK_FALSE(odd->slice);
  CHECK_FALSE(odd->marked);
  CHECK(odd->lanes.empty());
  for (const char* lanes : {"3,1", "1,1", "x", "1,,2", "-1"})
    CHECK(parse_link(std::string("gapscope:///t.json?marked=1..2&lanes=") + lanes)->lanes.empty());
}
