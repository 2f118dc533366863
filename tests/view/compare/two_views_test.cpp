#include "core/view/compare/two_views.h"

#include <doctest/doctest.h>

using namespace gapscope;

TEST_CASE("each of two traces keeps its own view, and the window's choices are about both") {
  ViewState view;
  view.active().selection = SliceId(std::size_t{3});
  view.active().finding.chosen = 4;
  view.window.settings.findings.muted = {"rule"};
  view.window.compare.side = TraceSide::b;
  CHECK_FALSE(view.active().selection);
  CHECK(view.active().finding.chosen == -1);
  select_slice(view.active(), SliceId(std::size_t{8}), /*reveal=*/true);
  CHECK(view.of(TraceSide::a).selection == SliceId(std::size_t{3}));
  CHECK(view.of(TraceSide::b).selection == SliceId(std::size_t{8}));
  CHECK(view.window.settings.findings.muted == std::vector<std::string>{"rule"});
}

TEST_CASE("an alignment reaches as far as both traces, and there and back is the same axis") {
  const Alignment at{1000, 77'000};
  CHECK(at.reach({0, 5000}, {70'000, 80'000}) == Span{-6000, 5000});
  const TimeView time{{10, 20}, 0.25, -0.5};
  const TimeView back = moved_by(moved_by(time, at.way()), -at.way());
  CHECK(back.span == time.span);
  CHECK(back.begin_rest_ns == time.begin_rest_ns);
  CHECK(moved_by(time, at.way()).span == Span{76'010, 76'020});
}
