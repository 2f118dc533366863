// Calls that lie in one another a hundred thousand deep: the rules end, without a stack as deep.
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/support/diagnosed.h"
#include "tests/support/load_text.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

// `depth` compiled regions in one another, in the innermost of them `call`; and a kernel that something else launched.
std::shared_ptr<const Trace> nested_regions(int depth, std::string_view call) {
  std::string inside = slice(call, std::to_string(2 * depth), "0.5", "", "cuda_runtime");
  for (int i = 0; i < depth; ++i)
    inside += ",\n" + slice("Torch-Compiled Region: 0/0", std::to_string(i), std::to_string(6 * depth - 2 * i));
  inside +=
      ",\n" + slice("cudaLaunchKernel", std::to_string(7 * depth), "1", R"(, "args": {"correlation": 1})", "cuda_runtime");
  inside += ",\n" + slice("k", std::to_string(7 * depth + 2), "3", R"(, "args": {"correlation": 1, "device": 0, "stream": 7})",
                          "kernel", "7");
  return load_text(events(inside));
}

}  // namespace

TEST_CASE("regions a hundred thousand deep are looked through for a launch") {
  const Diagnosed idle(nested_regions(120'000, "cudaGetDevice"));
  REQUIRE(idle.findings("compiled_region_no_kernels").size() == 1);
  const Diagnosed lost(nested_regions(2'000, "cudaLaunchKernel"));
  CHECK_FALSE(lost.fires("compiled_region_no_kernels"));
}
