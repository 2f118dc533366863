#include "core/view/details/breadcrumb.h"

#include <doctest/doctest.h>

#include "tests/support/tiny_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

std::vector<std::string> texts(const std::vector<Breadcrumb>& crumbs) {
  std::vector<std::string> out;
  for (const Breadcrumb& c : crumbs) out.push_back(c.text);
  return out;
}

}  // namespace

TEST_CASE("the way to a kernel leads through the thread, the operator and the launch") {
  const auto doc = document_from_text(kOneLaunch);
  const auto crumbs = breadcrumb(*doc, slice_named(*doc, "_ZN2at6native13reduce_kernelILi512EfEEvT0_"));
  REQUIRE(crumbs.size() == 6);
  CHECK(crumbs[0].part == Breadcrumb::Part::process);
  CHECK(crumbs[1].part == Breadcrumb::Part::lane);
  CHECK(crumbs[1].lane == doc->trace.lane_id(slice_named(*doc, "aten::add")));
  const auto all = texts(crumbs);
  CHECK(std::vector(all.begin() + 2, all.end()) ==
        std::vector<std::string>{"ProfilerStep#1", "aten::add", "cudaLaunchKernel", "reduce_kernel<512, fp32>"});
}

TEST_CASE("a launch of one kernel leads on to it, a launch of several does not") {
  const auto doc = document_from_text(kOneLaunch);
  CHECK(breadcrumb(*doc, slice_named(*doc, "cudaLaunchKernel")).back().text.starts_with("reduce_kernel<"));
  CHECK(breadcrumb(*doc, slice_named(*doc, "cudaGraphLaunch")).back().text == "cudaGraphLaunch");
  CHECK(breadcrumb(*doc, {}).empty());
}

TEST_CASE("a way that is too long is folded in its middle, and only as much as needed") {
  const std::vector<float> widths{50, 60, 70, 80, 90};
  using Folded = std::pair<std::size_t, std::size_t>;
  CHECK(folded_crumbs(widths, 10, 20, 390) == Folded{0, 0});
  CHECK(folded_crumbs(widths, 10, 20, 389) == Folded{2, 3});
  CHECK(folded_crumbs(widths, 10, 20, 270) == Folded{2, 4});
  CHECK(folded_crumbs(widths, 10, 20, 10) == Folded{1, 4});
  for (float room = 180; room < 400; ++room) {
    const auto [first, last] = folded_crumbs(widths, 10, 20, room);
    float used = 0;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (i >= first && i < last) continue;
      used += widths[i] + (i > 0 ? 10 : 0);
    }
    if (first < last) used += 30;
    CHECK(used <= room);
  }
}
