#include "core/analyze/operators/host_stalls.h"

#include <string>

#include <doctest/doctest.h>

#include "tests/support/load_text.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

constexpr const char* kOneShape = R"(, "args": {"Input Dims": [[512, 512], [512, 512]]})";

// Twenty copies that launch and return, then one that takes 2 ms: by itself, or around its launch.
std::string copies(bool last_launches) {
  std::string text;
  for (int i = 0; i < 21; ++i) {
    const bool is_last = i == 20;
    const std::string at = std::to_string(100 * i);
    text += (i > 0 ? "," : "") + slice("aten::copy_", at, is_last ? "2000" : "20", kOneShape);
    if (!is_last || last_launches) text += "," + slice("cudaMemcpyAsync", std::to_string(100 * i + 5), "5", "", "cuda_runtime");
  }
  return events(text);
}

}  // namespace

TEST_CASE("an operator that takes long around its launch was stopped, and one that computes on the CPU was not") {
  const HostStalls stopped = find_host_stalls(*load_text(copies(true)));
  REQUIRE(stopped.all.size() == 1);
  CHECK(stopped.time > 1'900 * kNsPerUs);
  CHECK(find_host_stalls(*load_text(copies(false))).all.empty());
}
