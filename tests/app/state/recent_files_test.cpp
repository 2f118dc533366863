#include "app/state/settings.h"

#include <doctest/doctest.h>

using gapscope::kMaxRecentFiles;
using gapscope::remember_file;

TEST_CASE("the newest file is first and each is there once") {
  std::vector<std::string> recent{"a", "b"};
  remember_file(recent, "b");
  CHECK(recent == std::vector<std::string>{"b", "a"});
}

TEST_CASE("the oldest files are forgotten") {
  std::vector<std::string> recent;
  for (std::size_t i = 0; i < kMaxRecentFiles + 3; ++i) remember_file(recent, std::to_string(i));
  CHECK(recent.size() == kMaxRecentFiles);
  CHECK(recent.back() == "3");
}

TEST_CASE("standard input is no recent file, nor what goes when the program ends") {
  std::vector<std::string> recent;
  remember_file(recent, "-");
  remember_file(recent, "");
  remember_file(recent, "/var/tmp/.gapscope-export-a1B2c3/0/report.sqlite");
  CHECK(recent.empty());
  remember_file(recent, "/data/gapscope-export/report.sqlite");
  CHECK(recent.size() == 1);
}
