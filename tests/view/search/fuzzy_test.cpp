#include "core/view/search/fuzzy.h"

#include <doctest/doctest.h>

using namespace gapscope;

TEST_CASE("letters that do not occur in this order do not fit") {
  CHECK_FALSE(fuzzy_score("Zoom in", "nz"));
  CHECK_FALSE(fuzzy_score("", "a"));
  CHECK(fuzzy_score("Zoom in", "") == 0);
}

TEST_CASE("the start of a text ranks before the start of a word, and that before its middle") {
  CHECK(*fuzzy_score("Find a lane", "fi") > *fuzzy_score("Next finding", "fi"));
  CHECK(*fuzzy_score("Next finding", "fi") > *fuzzy_score("Unfit", "fi"));
}

TEST_CASE("letters side by side rank before scattered ones, and first letters of words before others") {
  CHECK(*fuzzy_score("stream 7", "str") > *fuzzy_score("sorted trees", "str"));
  CHECK(*fuzzy_score("Zoom in", "zi") > *fuzzy_score("Zxxi", "zi"));
  CHECK(*fuzzy_score("stream 7", "s7") > *fuzzy_score("stream 17", "s7"));
}

TEST_CASE("spaces and case do not count") {
  CHECK(fuzzy_score("Go to a time", "GO TI") == fuzzy_score("Go to a time", "goti"));
}
