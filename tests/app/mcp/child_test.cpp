#include "app/mcp/child.h"

#include <doctest/doctest.h>

#include "app/mcp/calls.h"
#include "core/base/free_memory.h"
#include "core/base/text.h"

using namespace gapscope;

namespace {
Result<ChildResult> shell(const std::string& script, const ChildLimits& limits = {}) {
  return run_child("/bin/sh", {"-c", script}, limits);
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
  CHECK(said->error ==
        "That is longer than what can be handed to a program: 128 kB for one text, such as a query. Ask for less at once.");
  CHECK(run_child("/no/such/program", {})->error == "The program cannot be started again.");
}

TEST_CASE("what a command says of too little memory is followed by how much it may take") {
  ChildLimits limits;
  limits.memory_bytes = std::uint64_t{700} << 20;
  const auto said = shell("echo 'gapscope: Out of memory.' >&2; exit 1", limits);
  REQUIRE(said);
  CHECK(said->exit_code == 1);
  CHECK(said->error == "Out of memory. A call may take " + format_bytes(limits.memory_bytes) + " here, so that several fit.");
  CHECK(shell("echo 'gapscope: Out of luck.' >&2; exit 1")->error == "Out of luck.");
  CHECK(shell("echo 'gapscope: 3 memory events.' >&2")->error == "3 memory events.");
}
