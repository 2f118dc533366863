#include "app/record/status.h"

#include <doctest/doctest.h>

#include "tests/support/temp_folder.h"

using namespace gapscope;

TEST_CASE("what recorders report is read as it was said, also paths with spaces and line ends") {
  const test::TempFolder folder;
  const std::string status = folder.write("status", "");
  tell_sentence(status, "One.");
  tell_trace(status, {"/a b/c\nd.json", 3});
  tell_plainly(status.c_str(), "Two.");
  tell_trace(status, {"/e.json", -1});
  tell_sentence(status, "");
  const Status told = read_status(status);
  CHECK(told.sentences == std::vector<std::string>{"One.", "Two."});
  REQUIRE(told.traces.size() == 2);
  CHECK(told.traces[0].path == "/a b/c\nd.json");
  CHECK(told.traces[0].rank == 3);
  CHECK(told.traces[1].path == "/e.json");
  CHECK(told.traces[1].rank == -1);
}

TEST_CASE("a status that is gone, or that no one made, is not made anew and tells nothing") {
  const test::TempFolder folder;
  const std::string status = (folder.path() / "status").string();
  tell_sentence(status, "It is meant to stand on stderr while the tests run.");
  CHECK(std::filesystem::is_empty(folder.path()));
  CHECK(read_status(status).traces.empty());
  CHECK(read_status(folder.write("odd", std::string("T\0Tx\0X1 a\0", 10))).traces.empty());
}
