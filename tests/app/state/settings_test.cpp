#include "app/state/settings.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>

#include <sys/stat.h>

#include "tests/support/temp_folder.h"

using namespace gapscope;

namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// As a program that has just been started.
StateWritten write_settings(const std::filesystem::path& path, const Settings& settings) {
  SettingsFile file(path);
  std::string said;
  file.read(said);
  return file.write(settings);
}

}  // namespace

TEST_CASE("settings come back as they were written") {
  const test::TempFolder folder;
  const auto path = folder.path() / "deep/settings.json";
  CHECK(write_settings(path, {{"/a/b.json", "/c \"d\".json.gz"}, {"tf32_gemm"}, {}}).say == "");
  const auto back = read_settings(path);
  REQUIRE(back.ok());
  CHECK(back->recent == std::vector<std::string>{"/a/b.json", "/c \"d\".json.gz"});
  CHECK(back->muted == std::vector<std::string>{"tf32_gemm"});
  CHECK(std::distance(std::filesystem::directory_iterator(path.parent_path()), {}) == 1);
}

TEST_CASE("the editor and where recorded folders lie come back as they were written, and who changed them is followed") {
  const test::TempFolder folder;
  const auto path = folder.path() / "settings.json";
  Settings settings;
  settings.editor = "pycharm --line {line} {file}";
  settings.source_paths = {"/workspace=/home/me/project"};
  CHECK(write_settings(path, settings).done);
  const auto back = read_settings(path);
  REQUIRE(back.ok());
  CHECK(back->editor == settings.editor);
  CHECK(back->source_paths == settings.source_paths);
  CHECK(merged_settings({}, settings, {}).editor == settings.editor);
  CHECK(merged_settings(settings, settings, {}).editor.empty());
  CHECK_FALSE(read_settings(folder.write("odd.json", R"({"editor": 7})")).ok());
}

TEST_CASE("preferences come back as they were written, each under its name") {
  const test::TempFolder folder;
  const auto path = folder.path() / "settings.json";
  Settings settings;
  settings.preferences.light = settings.preferences.tour_seen = settings.preferences.thin_lanes = true;
  settings.preferences.animate = false;
  settings.preferences.zoom = 1.5f;
  settings.preferences.titles_px = 300;
  settings.roofs = {"bf16=989e12", "bandwidth=4.8e12"};
  CHECK(write_settings(path, settings).done);
  const auto back = read_settings(path);
  REQUIRE(back.ok());
  CHECK(back->preferences == settings.preferences);
  CHECK(back->roofs == settings.roofs);
}

TEST_CASE("a number among the preferences that is out of reason is brought within") {
  const test::TempFolder folder;
  const auto back = read_settings(
      folder.write("settings.json", R"({"preferences": {"zoom": 900, "drawer_px": -4, "of_a_later_version": 1}})"));
  REQUIRE(back.ok());
  CHECK(back->preferences.zoom == kMostZoom);
  CHECK(back->preferences.bottom_px == 0);
}

TEST_CASE("the view takes on preferences and gives them back") {
  Preferences preferences;
  preferences.light = preferences.colour_blind = preferences.tour_seen = preferences.thin_lanes = true;
  preferences.animate = preferences.bottom_open = preferences.findings_open = preferences.python_folded = false;
  preferences.zoom = 2;
  preferences.findings_px = 444;
  ViewState view;
  CHECK_FALSE(preferences_of(view.active(), view.window.settings) == preferences);
  prefer(view.active(), view.window.settings, preferences);
  CHECK(preferences_of(view.active(), view.window.settings) == preferences);
}

TEST_CASE("missing settings are defaults") {
  CHECK(read_settings("/nonexistent/settings.json")->recent.empty());
  CHECK(read_settings("")->recent.empty());
}

TEST_CASE("broken settings are named") {
  const test::TempFolder folder;
  for (const char* text : {"", "{", "[1]", R"({"recent": 3})", R"({"muted": "all"})", R"({"preferences": 1})",
                           R"({"preferences": {"zoom": "big"}})", R"({"preferences": {"light": 1}})", "\xff\xfe"}) {
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
  const StateWritten written = write_settings(file + "/settings.json", {});
  CHECK(!written.done);
  CHECK(written.say == file + "/settings.json: the settings cannot be saved; check the folder's permissions and free space.");
}

TEST_CASE("broken settings are moved aside when they are read, and their text is kept") {
  const test::TempFolder folder;
  for (int n = 1; n <= 2; ++n) {
    const std::string path = folder.write("settings.json", "{\"recent\": " + std::to_string(n));
    const std::string aside = path + ".broken-" + std::to_string(n);
    std::string said;
    CHECK(SettingsFile(path).read(said).recent.empty());
    CHECK(said == path + ": the settings are no JSON; the file is now " + aside + ", and the settings are the defaults.");
    CHECK(text_of(aside) == "{\"recent\": " + std::to_string(n));
    CHECK(!std::filesystem::exists(path));
  }
}

TEST_CASE("settings nested without end are moved aside like other broken ones") {
  const test::TempFolder folder;
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += "{\"a\":";
  text += '1' + std::string(200'000, '}');
  const std::string path = folder.write("settings.json", text);
  std::string said;
  CHECK(SettingsFile(path).read(said).recent.empty());
  CHECK(said.starts_with(path + ": the settings are JSON that is nested deeper than 64 levels; the file is now "));
  CHECK(text_of(path + ".broken-1") == text);
}

TEST_CASE("settings that a person broke while the program ran are moved aside before they are written") {
  const test::TempFolder folder;
  const std::string path = folder.write("settings.json", R"({"recent": ["/a"]})");
  SettingsFile file(path);
  std::string said;
  Settings settings = file.read(said);
  folder.write("settings.json", R"({"recent": ["/a"], )");
  settings.recent.insert(settings.recent.begin(), "/b");
  const StateWritten written = file.write(settings);
  CHECK(written.done);
  CHECK(written.say == path + ": the settings are no JSON; the file is now " + path + ".broken-1.");
  CHECK(text_of(path + ".broken-1") == R"({"recent": ["/a"], )");
  CHECK(read_settings(path)->recent == std::vector<std::string>{"/b", "/a"});
  CHECK(file.write(settings).say == "");
}

TEST_CASE("what is no file is neither waited for nor replaced unsaid") {
  const test::TempFolder folder;
  const std::string path = (folder.path() / "settings.json").string();
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  std::string said;
  SettingsFile(path).read(said);
  CHECK(said.starts_with(path + ": the settings cannot be read (not a file); the file is now " + path + ".broken-1"));
  std::filesystem::create_symlink("/dev/null", path);  // a person wants none
  said.clear();
  SettingsFile file(path);
  file.read(said);
  CHECK(said == "");
  CHECK(file.write({{"/a"}, {}, {}}).say == "");
  CHECK(std::filesystem::is_symlink(path));
}

TEST_CASE("of two programs that write the settings each keeps what it changed") {
  const test::TempFolder folder;
  const std::string path = folder.write(
      "settings.json", R"({"recent": ["/a", "/b", "/c"], "preferences": {"zoom": 1.5, "of_a_later_version": [1]}, "new": {}})");
  SettingsFile one(path), two(path);
  std::string said;
  Settings s1 = one.read(said), s2 = two.read(said);
  s1.recent = {"/x", "/a", "/b", "/c"};
  s1.preferences.light = true;
  s2.recent = {"/c", "/y", "/a", "/b"};
  s2.muted = {"rule"};
  s2.preferences.zoom = 2;
  CHECK(one.write(s1).done);
  CHECK(two.write(s2).done);
  const Settings both = *read_settings(path);
  CHECK(both.recent == std::vector<std::string>{"/c", "/y", "/x", "/a", "/b"});
  CHECK(both.muted == std::vector<std::string>{"rule"});
  CHECK(both.preferences.light);
  CHECK(both.preferences.zoom == 2);
  CHECK(one.write(s1).done);  // has changed nothing since
  CHECK(read_settings(path)->recent == both.recent);
  CHECK(read_settings(path)->preferences == both.preferences);
  CHECK(text_of(path).find("\"of_a_later_version\"") != std::string::npos);
  CHECK(text_of(path).find("\"new\"") != std::string::npos);
  std::filesystem::remove(path);
  CHECK(one.write(s1).done);
  CHECK(read_settings(path)->recent == s1.recent);
}

TEST_CASE("settings lie where the desktop says") {
  CHECK(settings_path("/x", "/h") == "/x/gapscope/settings.json");
  CHECK(settings_path(nullptr, "/h") == "/h/.config/gapscope/settings.json");
  CHECK(settings_path("relative", "/h") == "/h/.config/gapscope/settings.json");
  CHECK(settings_path("", nullptr).empty());
}
