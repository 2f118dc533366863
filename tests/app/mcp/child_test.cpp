#include "app/mcp/child.h"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <vector>

#include "app/mcp/calls.h"
#include "core/base/free_memory.h"
#include "core/base/readable_folders.h"
#include "core/base/text.h"
#include "core/load/load_trace.h"
#include "core/ranks/rank_head.h"
#include "tests/support/temp_folder.h"

using namespace gapscope;
using Words = std::vector<std::string>;

namespace {
Result<ChildResult> shell(const std::string& script, const ChildLimits& limits = {}) {
  return run_child("/bin/sh", ReadableFolders(), {"-c", script}, limits);
}
}  // namespace

TEST_CASE("a command may take so much memory that all which run at once fit into half of it") {
  const auto said = shell("ulimit -v");
  REQUIRE(said);
  if (memory_of_a_call() == ~std::uint64_t{0}) {  // with sanitizers
    CHECK(said->out == "unlimited\n");
    return;
  }
  const std::uint64_t bytes = std::stoull(said->out) * 1024;
  CHECK(bytes == memory_of_a_call() / 1024 * 1024);
  CHECK((bytes * Calls::kAtOnce <= whole_memory_bytes() / 2 || bytes == std::uint64_t{512} << 20));
}

TEST_CASE("what is too long to be handed on is said") {
  const auto said = shell("echo " + std::string(200'000, 'x'));
  REQUIRE(said);
  CHECK(said->exit_code == 127);
  CHECK(said->error == "An argument, such as a query, is longer than 128 kB, the limit for a program. Ask for less.");
  CHECK(run_child("/no/such/program", ReadableFolders(), {})->error == "Cannot start the program again.");
}

TEST_CASE("what a command says of too little memory is followed by how much it may take") {
  ChildLimits limits;
  limits.memory_bytes = std::uint64_t{700} << 20;
  const auto said = shell("echo 'gapscope: Out of memory.' >&2; exit 1", limits);
  REQUIRE(said);
  CHECK(said->exit_code == 1);
  CHECK(said->error == "Out of memory. A call may use at most " + format_bytes(limits.memory_bytes) +
                           " of memory, so that several calls fit.");
  CHECK(shell("echo 'gapscope: Out of luck.' >&2; exit 1")->error == "Out of luck.");
  CHECK(shell("echo 'gapscope: 3 memory events.' >&2")->error == "3 memory events.");
}

TEST_CASE("a command reads below the folders that it was given open, and its other words are its own") {
  const test::TempFolder folder, elsewhere;
  constexpr const char* kTrace = R"({"distributedInfo": {"rank": 3, "world_size": 4}, "traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1}]})";
  const std::string inside = folder.write("a.json", kTrace), outside = elsewhere.write("b.json", kTrace);
  Words words = {"info", "--beneath=3", "a.json"};
  CHECK_FALSE(confine_as_asked(words));
  CHECK(words == Words{"info", "--beneath=3", "a.json"});
  CHECK(read_rank_head(outside).rank == 3);
  const int fd = ::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY);
  words = {"--beneath=" + std::to_string(fd), "info", "a.json"};
  CHECK_FALSE(confine_as_asked(words));
  CHECK(words == Words{"info", "a.json"});
  CHECK(read_rank_head(inside).rank == 3);
  CHECK(read_rank_head(outside).rank == -1);
  CHECK(load_trace(inside).ok());
  const auto refused = load_trace(outside);
  confine_reading(nullptr);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("cannot be opened") != std::string::npos);
}

TEST_CASE("a command whose folders were not given open does not run") {
  for (const char* word : {"--beneath=", "--beneath=x", "--beneath=-1", "--beneath=987654", "--beneath=99999999999999999999"}) {
    CAPTURE(word);
    Words words = {word, "--version"};
    CHECK(confine_as_asked(words));
  }
}
