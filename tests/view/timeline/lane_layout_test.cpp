#include "core/view/timeline/lane_layout.h"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/hand_trace.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

std::shared_ptr<const Trace> two_processes() {
  return hand_trace({{"python 1", "thread 1", LaneKind::cpu_thread, {{{"a", 0, 10}}, {{"b", 1, 9}}, {{"c", 2, 8}}}},
                     {"python 1", "thread 2", LaneKind::cpu_thread, {{{"d", 0, 10}}}},
                     {"GPU 0", "stream 7", LaneKind::gpu_stream, {{{"k", 3, 6, Kind::kernel}}}}});
}

LaneFolds open_folds(const Trace& trace) {
  LaneFolds folds;
  reset_folds(folds, trace);
  return folds;
}

}  // namespace

TEST_CASE("each process has a header above its lanes, and nothing overlaps") {
  const auto trace = two_processes();
  const LaneLayout layout(*trace, open_folds(*trace), LaneMetrics{});
  REQUIRE(layout.bands().size() == 5);
  CHECK(layout.bands()[0].kind == BandKind::process);
  CHECK(layout.bands()[2].kind == BandKind::process);
  float y = 0;
  for (const Band& band : layout.bands()) {
    CHECK(band.y == y);
    CHECK(band.height > 0);
    y = band.bottom();
  }
  CHECK(layout.height() == y);
}

TEST_CASE("all depths of a lane lie inside it, one below the other") {
  const auto trace = two_processes();
  const LaneLayout layout(*trace, open_folds(*trace), LaneMetrics{});
  const Band& band = *layout.band_of(LaneId(0));
  float above = band.y;
  for (std::uint32_t depth = 0; depth < 3; ++depth) {
    const LaneLayout::Strip strip = layout.strip(band, depth);
    CHECK(strip.y >= above);
    above = strip.y + strip.height;
    CHECK(above <= band.bottom());
  }
}

TEST_CASE("the depths that show in a stretch are those whose strips do") {
  const auto trace = two_processes();
  const LaneLayout layout(*trace, open_folds(*trace), LaneMetrics{});
  for (const Band& band : layout.bands()) {
    if (band.kind != BandKind::lane || band.collapsed) continue;
    for (float top = band.y - 30; top < band.bottom() + 30; top += 0.5f) {
      for (const float height : {0.5f, 9.0f, 40.0f}) {
        const auto [first, last] = layout.depths_in(band, top, top + height);
        CHECK(first <= last);
        CHECK(last <= band.depths);
        for (std::uint32_t depth = 0; depth < band.depths; ++depth) {
          const LaneLayout::Strip strip = layout.strip(band, depth);
          if (strip.y < top + height && strip.y + strip.height > top) CHECK((first <= depth && depth < last));
        }
      }
    }
  }
  const Band& deep = *layout.band_of(LaneId(0));
  CHECK(layout.depths_in(deep, layout.strip(deep, 1).y, layout.strip(deep, 1).y + 1) == std::pair{1u, 2u});
  CHECK(layout.depths_in(deep, deep.bottom() + 100, deep.bottom() + 200) == std::pair{3u, 3u});
}

TEST_CASE("a folded lane is thin, and all its depths lie on the one line it shows") {
  const auto trace = two_processes();
  LaneFolds folds = open_folds(*trace);
  toggle_lane(folds, LaneId(0));
  const LaneLayout layout(*trace, folds, LaneMetrics{});
  const Band& band = *layout.band_of(LaneId(0));
  CHECK(band.collapsed);
  CHECK(band.height == LaneMetrics{}.collapsed);
  CHECK(layout.strip(band, 2).y == layout.strip(band, 0).y);
}

TEST_CASE("a folded process shows its header only, where its lanes are found") {
  const auto trace = two_processes();
  LaneFolds folds = open_folds(*trace);
  toggle_process(folds, ProcessId(0));
  const LaneLayout layout(*trace, folds, LaneMetrics{});
  CHECK(layout.bands().size() == 3);
  CHECK(layout.band_of(LaneId(1)) == &layout.bands()[2]);
}

TEST_CASE("a hidden lane has no band, and unfolding brings it back") {
  const auto trace = two_processes();
  LaneFolds folds = open_folds(*trace);
  folds.lane_hidden[2] = true;
  const LaneLayout hidden(*trace, folds, LaneMetrics{});
  CHECK(hidden.bands().size() == 3);
  CHECK(hidden.band_of(LaneId(2)) == nullptr);
  const auto before = folds.revision;
  unfold_lane(folds, *trace, LaneId(2));
  CHECK(folds.revision > before);
  CHECK(LaneLayout(*trace, folds, LaneMetrics{}).band_of(LaneId(2)) != nullptr);
}

TEST_CASE("the visible bands are those that a scan finds") {
  const auto trace = two_processes();
  const LaneLayout layout(*trace, open_folds(*trace), LaneMetrics{});
  for (float top = -30; top < layout.height() + 30; top += 3) {
    const float bottom = top + 40;
    const auto [first, last] = layout.visible(top, bottom);
    for (std::size_t i = 0; i < layout.bands().size(); ++i) {
      const Band& band = layout.bands()[i];
      const bool listed = first <= i && i < last;
      CHECK(listed == (band.bottom() > top && band.y < bottom));
    }
  }
}

TEST_CASE("a thread of nothing but Python frames opens folded, one with an operator does not") {
  const auto trace =
      hand_trace({{"p", "waits", LaneKind::cpu_thread, {{{"run", 0, 9, Kind::python}}, {{"wait", 1, 8, Kind::python}}}},
                  {"p", "works", LaneKind::cpu_thread, {{{"run", 0, 9, Kind::python}}, {{"aten::mm", 1, 8}}}},
                  // Whose first frames are Python's at every depth.
                  {"p",
                   "begins",
                   LaneKind::cpu_thread,
                   {{{"run", 0, 9, Kind::python}}, {{"enter", 1, 2, Kind::python}, {"aten::mm", 3, 8}}}}});
  const LaneFolds folds = open_folds(*trace);
  CHECK(folds.lane_collapsed[0]);
  CHECK_FALSE(folds.lane_collapsed[1]);
  CHECK_FALSE(folds.lane_collapsed[2]);
}

TEST_CASE("at every scale depths are whole pixels apart") {
  for (const float scale : {0.75f, 1.0f, 1.25f, 1.5f, 2.0f, 3.0f}) {
    const LaneMetrics m = LaneMetrics{}.scaled(scale);
    CHECK(m.depth == std::round(m.depth));
    CHECK(m.slice < m.depth);
  }
}

TEST_CASE("a thread without its Python frames is as tall as what they called, and a folded frame has no place") {
  const auto trace = hand_trace(
      {{"p", "main", LaneKind::cpu_thread, {{{"run", 0, 9, Kind::python}}, {{"aten::mm", 1, 8}}, {{"cudaLaunch", 2, 3}}}}});
  const Arrangements arranged = make_arrangements(*trace);
  LaneFolds folds = open_folds(*trace);
  const LaneLayout folded(*trace, folds, LaneMetrics{}, {}, &arranged);
  CHECK(folded.bands()[1].depths == 2);
  CHECK_FALSE(folded.place_of(*trace, SliceId(0)).has_value());
  REQUIRE(folded.place_of(*trace, SliceId(1)).has_value());
  CHECK(folded.place_of(*trace, SliceId(1))->depth == 0);
  toggle_python(folds);
  const LaneLayout open(*trace, folds, LaneMetrics{}, {}, &arranged);
  CHECK(open.bands()[1].depths == 3);
  CHECK(open.place_of(*trace, SliceId(1))->depth == 1);
  CHECK(open.height() > folded.height());
}

TEST_CASE("thin lanes take a third of the height of their depths") {
  const auto trace = two_processes();
  const LaneLayout usual(*trace, open_folds(*trace), LaneMetrics{});
  const LaneLayout thin(*trace, open_folds(*trace), LaneMetrics{}.compacted());
  const auto depths = [](const LaneLayout& layout) {
    return layout.strip(*layout.band_of(LaneId(0)), 2).y - layout.strip(*layout.band_of(LaneId(0)), 0).y;
  };
  CHECK(depths(thin) * 2 < depths(usual));
}

TEST_CASE("graph streams shown as one have one band, where the slices of all of them are found") {
  auto trace = hand_trace({{"GPU 0", "stream 1", LaneKind::gpu_stream, {{{"a", 0, 10, Kind::kernel}}}},
                           {"GPU 0", "stream 2", LaneKind::gpu_stream, {{{"b", 5, 15, Kind::kernel}}}}});
  for (std::size_t i = 0; i < 2; ++i) {
    GpuRow row;
    row.slice = SliceId(i);
    row.graph_id = 4;
    trace->gpu.push_back(row);
  }
  const Arrangements arranged = make_arrangements(*trace);
  LaneFolds folds = open_folds(*trace);
  toggle_graph_streams(folds, ProcessId(0));
  const LaneLayout layout(*trace, folds, LaneMetrics{}, {}, &arranged);
  REQUIRE(layout.bands().size() == 2);
  CHECK(layout.band_of(LaneId(1)) == layout.band_of(LaneId(0)));
  CHECK(layout.place_of(*trace, SliceId(1))->depth == 1);
}

// Looking through all counters for each process would take minutes.
TEST_CASE("the counters of a hundred thousand GPUs are laid out") {
  Trace trace;
  std::vector<ProcessId> counters;
  for (std::size_t i = 0; i < 100'000; ++i) {
    trace.processes.emplace_back().is_gpu = true;
    counters.emplace_back(i);
  }
  const LaneLayout layout(trace, open_folds(trace), LaneMetrics{}, counters);
  CHECK(layout.bands().size() == 2 * counters.size());  // each a header, and its counter behind a line
  CHECK(layout.bands().back().kind == BandKind::counter);
}
