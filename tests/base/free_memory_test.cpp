#include "core/base/free_memory.h"

#include <doctest/doctest.h>

#include "tests/support/temp_folder.h"

using namespace gapscope;

namespace {
constexpr std::uint64_t kNone = ~std::uint64_t{0};
}  // namespace

TEST_CASE("of the memory groups around a process the tightest counts") {
  const test::TempFolder folder;
  const std::string root = folder.path().string();
  CHECK(group_limit_bytes("0::/a/b\n", root) == kNone);
  folder.write("a/b/memory.max", "max\n");
  folder.write("a/memory.max", "5000\n");
  folder.write("memory.max", "7000\n");
  CHECK(group_limit_bytes("0::/a/b\n", root) == 5000);
  CHECK(group_limit_bytes("0::/\n", root) == 7000);
  CHECK(group_limit_bytes("1:name=systemd:/a\n", root) == kNone);
  folder.write("memory/memory.limit_in_bytes", "4000\n");
  CHECK(group_limit_bytes("9:name=systemd:/\n4:memory:/not/seen/here\n0::/a/b", root) == 4000);
  CHECK(group_limit_bytes("", root) == kNone);
  CHECK(group_limit_bytes("nonsense\n:\n", root) == kNone);
}

TEST_CASE("how much memory there is is known") {
  CHECK(whole_memory_bytes() > (std::uint64_t{1} << 27));
  CHECK(whole_memory_bytes() < kNone);
}
