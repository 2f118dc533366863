#include "app/session/samples.h"

#include <doctest/doctest.h>

#include <set>

#include "core/load/load_trace.h"
#include "tests/support/source_folder.h"
#include "tests/support/temp_folder.h"

using namespace gapscope;

TEST_CASE("every sample is in assets/traces, opens, and says what it teaches") {
  const std::filesystem::path assets = test::source_folder() / "assets";
  std::set<std::string> names;
  for (const Sample& sample : samples()) {
    CAPTURE(sample.name);
    CHECK(names.insert(sample.name).second);
    CHECK(sample.story.size() > 20);
    CHECK(sample.story.ends_with('.'));
    const auto trace = load_trace(sample_path(assets, sample).string());
    REQUIRE_MESSAGE(trace.ok(), trace.error().message);
    CHECK((*trace)->slice_count() > 0);
    CHECK((*trace)->report.count(ImportIssue::bad_event) == 0);
  }
}

TEST_CASE("assets are found next to the program before those it was built from") {
  const test::TempFolder folder;
  folder.write("build/gapscope", "");
  CHECK(find_assets(folder.path() / "build/gapscope") == test::source_folder() / "assets");
  folder.write("assets/traces/a.json.gz", "");
  CHECK(find_assets(folder.path() / "build/gapscope") == folder.path() / "assets");
}
