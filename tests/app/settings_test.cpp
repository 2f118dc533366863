#include "app/settings.h"

#include <doctest/doctest.h>

#include "tests/support/temp_folder.h"

using namespace gapscope;

TEST_CASE("settings come back as they were written") {
  const test::TempFolder folder;
  const auto path = folder.path() / "deep/settings.json";
  CHECK_FALSE(write_settings(path, {{"/a/b.json", "/c \"d\".json.gz"}, {"tf32_gemm"}, {}}));
  const auto back = read_settings(path);
  REQUIRE(back.ok());
  CHECK(back->recent == std::vector<std::string>{"/a/b.json", "/c \"d\".json.gz"});
  CHECK(back->muted == std::vector<std::string>{"tf32_gemm"});
  CHECK_FALSE(std::filesystem::exists(path.string() + ".new"));
}

TEST_CASE("preferences come back as they were written, each under its name") {
  const test::TempFolder folder;
  const auto path = folder.path() / "settings.json";
  Settings settings;
  settings.preferences.light = settings.preferences.tour_seen = settings.preferences.thin_lanes = true;
  settings.preferences.animate = false;
  settings.preferences.zoom = 1.5f;
  settings.preferences.titles_px = 300;
  CHECK_FALSE(write_settings(path, settings));
  const auto back = read_settings(path);
  REQUIRE(back.ok());
  CHECK(back->preferences == settings.preferences);
}

TEST_CASE("a number among the preferences that is out of reason is brought within") {
  const test::TempFolder folder;
  const auto back = read_settings(folder.write("settings.json", R"({"preferences": {"zoom": 900, "bottom_px": -4, "of_a_later_version": 1}})"));
  REQUIRE(back.ok());
  CHECK(back->preferences.zoom == kMostZoom);
  CHECK(back->preferences.bottom_px == 60);
}

TEST_CASE("the view takes on preferences and gives them back") {
  Preferences preferences;
  preferences.light = preferences.colour_blind = preferences.tour_seen = preferences.thin_lanes = true;
  preferences.animate = preferences.bottom_open = preferences.findings_open = preferences.python_folded = false;
  preferences.zoom = 2;
  preferences.findings_px = 444;
  ViewState view;
  CHECK_FALSE(preferences_of(view) == preferences);
  prefer(view, preferences);
  CHECK(preferences_of(view) == preferences);
}

TEST_CASE("missing settings are defaults") {
  CHECK(read_settings("/nonexistent/settings.json")->recent.empty());
  CHECK(read_settings("")->recent.empty());
}

TEST_CASE("broken settings are named and left alone") {
  const test::TempFolder folder;
  for (const char* text : {"", "{", "[1]", R"({"recent": 3})", R"({"muted": "all"})", R"({"preferences": 1})", R"({"preferences": {"zoom": "big"}})", R"({"preferences": {"light": 1}})", "\xff\xfe"}) {
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
