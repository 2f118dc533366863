#include "app/settings.h"

#include <doctest/doctest.h>

#include "tests/support/temp_folder.h"

using namespace gapscope;

TEST_CASE("settings come back as they were written") {
  const test::TempFolder folder;
  const auto path = folder.path() / "deep/settings.json";
  CHECK_FALSE(write_settings(path, {{"/a/b.json", "/c \"d\".json.gz"}, {"tf32_gemm"}}));
  const auto back = read_settings(path);
  REQUIRE(back.ok());
  CHECK(back->recent == std::vector<std::string>{"/a/b.json", "/c \"d\".json.gz"});
  CHECK(back->muted == std::vector<std::string>{"tf32_gemm"});
  CHECK_FALSE(std::filesystem::exists(path.string() + ".new"));
}

TEST_CASE("missing settings are defaults") {
  CHECK(read_settings("/nonexistent/settings.json")->recent.empty());
  CHECK(read_settings("")->recent.empty());
}

TEST_CASE("broken settings are named and left alone") {
  const test::TempFolder folder;
  for (const char* text : {"", "{", "[1]", R"({"recent": 3})", R"({"muted": "all"})", "\xff\xfe"}) {
    CAPTURE(text);
    const std::string path = folder.write("settings.json", text);
    const auto read = read_settings(path);
    REQUIRE_FALSE(read.ok());
    CHECK(read.error().message.starts_with(path + ": the settings "));
  }
}

TEST_CASE("what is no text among the recent files is passed over") {
  const test::TempFolder folder;
  const auto read = read_settings(folder.write("settings.json", R"({"recent": [1, "/a.json", null], "later": true})"));
  REQUIRE(read.ok());
  CHECK(read->recent == std::vector<std::string>{"/a.json"});
}

TEST_CASE("settings that cannot be saved are a sentence") {
  const test::TempFolder folder;
  const std::string file = folder.write("in_the_way", "");
  CHECK(write_settings(file + "/settings.json", {})->message.find("cannot be saved") != std::string::npos);
}

TEST_CASE("settings lie where the desktop says") {
  CHECK(settings_path("/x", "/h") == "/x/gapscope/settings.json");
  CHECK(settings_path(nullptr, "/h") == "/h/.config/gapscope/settings.json");
  CHECK(settings_path("relative", "/h") == "/h/.config/gapscope/settings.json");
  CHECK(settings_path("", nullptr).empty());
}
