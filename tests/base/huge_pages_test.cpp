#include "core/base/huge_pages.h"

#include <iostream>
#include <optional>

#include <sys/prctl.h>

#include <doctest/doctest.h>

using gapscope::HugePages;

namespace {

bool are_allowed() { return prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) == 0; }

}  // namespace

TEST_CASE("huge pages are allowed while any work that wants them lives, and not once the last has gone") {
  if (prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) < 0) {
    std::cout << "SKIPPED: this kernel does not tell whether huge pages are allowed.\n";
    return;
  }
  std::optional<HugePages> first(std::in_place), second(std::in_place);
  first.reset();
  CHECK(are_allowed());
  second.reset();
  CHECK_FALSE(are_allowed());
  const HugePages again;
  CHECK(are_allowed());
}
