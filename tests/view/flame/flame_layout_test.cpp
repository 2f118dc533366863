#include "core/view/flame/flame_layout.h"

#include <doctest/doctest.h>

#include <string>

#include "core/view/flame/flame_model.h"
#include "tests/support/hand_trace.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

struct Flame {
  explicit Flame(std::vector<std::vector<HandSlice>> depths)
      : trace(hand_trace({{"p", "thread 1", LaneKind::cpu_thread, std::move(depths)}})),
        lanes(*trace),
        links(*trace, lanes),
        paths(*call_paths(*trace, lanes, links, whole_area(*trace), PathTime::cpu)) {}
  std::uint32_t node(std::string_view name) const {
    for (std::uint32_t i = 0; i < paths.size(); ++i)
      if (paths.name[i] && trace->strings[paths.name[i]] == name) return i;
    FAIL("no such path");
    return 0;
  }
  FlameBox box(const std::vector<FlameBox>& boxes, std::string_view name) const {
    for (const FlameBox& b : boxes)
      if (b.node == node(name) && b.folded == 0) return b;
    return {};
  }
  std::shared_ptr<Trace> trace;
  LaneIndex lanes;
  LinkIndex links;
  CallPaths paths;
};

Flame small() { return Flame({{{"a", 0, 30}, {"b", 30, 100}}, {{"c", 40, 75}}}); }

}  // namespace

TEST_CASE("left heavy puts the widest path first, time order the earliest") {
  const Flame flame = small();
  const auto heavy = lay_out_flame(flame.paths, PathOrder::widest, 0, 1000);
  CHECK(flame.box(heavy, "b").x0 == 0);
  CHECK(flame.box(heavy, "b").x1 == 700);
  CHECK(flame.box(heavy, "a").x0 == 700);
  CHECK(flame.box(heavy, "c").x1 == 350);
  CHECK(flame.box(heavy, "c").row == 3);  // all, the lane, b, c
  const auto timed = lay_out_flame(flame.paths, PathOrder::time, 0, 1000);
  CHECK(flame.box(timed, "a").x0 == 0);
  CHECK(flame.box(timed, "b").x0 == 300);
}

TEST_CASE("a path that is zoomed into fills the width, with what encloses it above") {
  const Flame flame = small();
  const auto boxes = lay_out_flame(flame.paths, PathOrder::widest, flame.node("b"), 1000);
  REQUIRE(boxes.size() == 4);
  for (const FlameBox& box : boxes) CHECK(box.x0 == 0);
  CHECK(flame.box(boxes, "b").x1 == 1000);
  CHECK(flame.box(boxes, "c").x1 == 500);
}

TEST_CASE("boxes are bounded by pixels, and what is folded is counted") {
  std::vector<HandSlice> many;
  std::vector<std::string> names;
  for (int i = 0; i < 5000; ++i) names.push_back("n" + std::to_string(i));
  Ns at = 0;
  for (int i = 0; i < 5000; ++i) {
    const Ns end = at + (i % 1000 == 500 ? 1000 : 3);
    many.push_back({names[static_cast<std::size_t>(i)], at, end});
    at = end;
  }
  const Flame flame({many});
  for (const PathOrder order : {PathOrder::widest, PathOrder::time}) {
    const auto boxes = lay_out_flame(flame.paths, order, 0, 300);
    CHECK(boxes.size() <= 2 * 300 + 2);
    std::uint32_t shown = 0;
    Ns time = 0;
    for (const FlameBox& box : boxes) {
      if (box.row != 2) continue;
      shown += std::max(1u, box.folded);
      time += box.total;
    }
    CHECK(shown == 5000);
    CHECK(time == flame.paths.total[0]);
  }
}

TEST_CASE("boxes of a row never overlap, whatever overlaps in the trace") {
  const Flame flame({{{"a", 0, 60}}, {{"x", 10, 60}}, {{"y", 20, 60}}});
  for (const float width : {7.0f, 100.0f, 999.0f}) {
    const auto boxes = lay_out_flame(flame.paths, PathOrder::time, 0, width);
    for (const FlameBox& a : boxes) {
      CHECK(a.x1 <= width);
      for (const FlameBox& b : boxes)
        if (&a != &b && a.row == b.row) CHECK((a.x1 <= b.x0 || b.x1 <= a.x0));
    }
  }
}

TEST_CASE("a box says its name, total, self, count and share") {
  const Flame flame = small();
  const auto boxes = lay_out_flame(flame.paths, PathOrder::widest, 0, 1000);
  const std::string text = box_text(*flame.trace, flame.paths, flame.box(boxes, "b"));
  CHECK(text == "b\ntotal  70 ns  70.0 % of all, 70.0 % of what is above it\nself   35 ns  35.0 % of all\ncount  1");
}
