#include "app/mcp/page.h"

#include <doctest/doctest.h>

#include <string>

using namespace gapscope;
using Json = nlohmann::ordered_json;

TEST_CASE("a list longer than a page is cut to rows, and continues where it was cut") {
  Json rows = Json::array();
  for (int i = 0; i < 10; ++i) rows.push_back({i, std::string(100, 'a')});
  const Page page = page_of({{"rows", rows}}, 2, 200, 400);
  CHECK(page.rows == 10);
  CHECK(page.answer["rows"].size() == 3);
  CHECK(page.answer["rows"][0] == rows[2]);
  CHECK(page.next_cursor == 5);
}

TEST_CASE("a row longer than a page has its long texts cut, between two characters") {
  std::string long_text;
  for (int i = 0; i < 500'000; ++i) long_text += "\xC3\xA4";
  const Json row = {7, "short", long_text, {{"inner", long_text}}};
  const Page page = page_of({{"rows", {row, {8, "next"}}}}, 0, 200, 4006);
  REQUIRE(page.answer["rows"].size() == 1);
  const Json& cut = page.answer["rows"][0];
  CHECK(cut[0] == 7);
  CHECK(cut[1] == "short");
  CHECK(cut[2] == long_text.substr(0, 1000) + "... (cut: 1.00 MB in total)");
  CHECK(cut[3]["inner"] == cut[2]);
  CHECK(page.next_cursor == 1);
  CHECK(page.answer.dump().size() < 4006);
  CHECK(page_of({{"rows", {{8, std::string(3000, 'b')}}}}, 0, 200, 4006).answer["rows"][0][1] == std::string(3000, 'b'));
}
