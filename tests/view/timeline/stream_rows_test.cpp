// The GPUs stand first, a row of kernels each stream.
#include "core/view/timeline/lane_layout.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/support/hand_trace.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

struct Laid {
  explicit Laid(std::shared_ptr<Trace> t) : trace(std::move(t)), arranged(make_arrangements(*trace)) {
    reset_folds(folds, *trace);
  }
  LaneLayout layout() const { return LaneLayout(*trace, folds, LaneMetrics{}, {}, &arranged); }
  std::string order() const {
    std::string text;
    const LaneLayout all = layout();
    for (const Band& band : all.bands()) {
      text += text.empty() ? "" : " ";
      if (band.kind == BandKind::process) text += "[" + trace->processes[band.process.index()].title + "]";
      if (band.kind == BandKind::lane) text += trace->lane(band.lane).title;
      if (band.kind == BandKind::more_streams) text += "+" + std::to_string(band.more);
    }
    return text;
  }

  std::shared_ptr<Trace> trace;
  Arrangements arranged;
  LaneFolds folds;
};

// Eighteen streams; stream s works for s times 10 ns.
std::shared_ptr<Trace> many_streams() {
  static const std::vector<std::string> titles = [] {
    std::vector<std::string> all;
    for (int i = 0; i < 18; ++i) all.push_back("s" + std::to_string(i));
    return all;
  }();
  std::vector<HandLane> lanes = {{"p", "main", LaneKind::cpu_thread, {{{"a", 0, 1000}}}}};
  for (int i = 0; i < 18; ++i)
    lanes.push_back(
        {"GPU", titles[static_cast<std::size_t>(i)], LaneKind::gpu_stream, {{{"k", 0, 10 + 10 * i, Kind::kernel}}}});
  return hand_trace(lanes);
}

}  // namespace

TEST_CASE("annotations and waits over a stream never push its kernels down") {
  const auto plain =
      hand_trace({{"GPU", "s", LaneKind::gpu_stream, {{{"k", 10, 20, Kind::kernel}, {"l", 30, 40, Kind::kernel}}}}});
  Laid bare(plain);
  Laid covered(hand_trace({{"GPU",
                            "s",
                            LaneKind::gpu_stream,
                            {{{"step", 0, 25, Kind::gpu_annotation}, {"l", 30, 40, Kind::kernel}},
                             {{"forward", 5, 22, Kind::gpu_annotation}},
                             {{"k", 10, 20, Kind::kernel}, {"wait", 21, 24, Kind::sync}}}}}));
  const LaneLayout a = bare.layout(), b = covered.layout();
  REQUIRE(b.bands().size() == 2);
  CHECK(b.bands()[1].depths == 1);
  CHECK(b.bands()[1].height == a.bands()[1].height);
  const float row = a.place_of(*bare.trace, SliceId(0))->strip.y;
  const auto strip_of = [&](std::string_view name) {
    for (std::size_t i = 0; i < covered.trace->slice_count(); ++i)
      if (covered.trace->name(SliceId(i)) == name) return b.place_of(*covered.trace, SliceId(i)).value().strip;
    return LaneLayout::Strip{};
  };
  CHECK(strip_of("k").y == row);
  CHECK(strip_of("l").y == row);
  for (const char* over : {"step", "forward", "wait"}) {
    CHECK(strip_of(over).y >= b.bands()[1].y);
    CHECK(strip_of(over).y + strip_of(over).height <= row);
    CHECK(strip_of(over).height >= 2);
  }
  CHECK(strip_of("step").y < strip_of("forward").y);
}

TEST_CASE("kernels that overlap on one stream stay visible, each on a row of its own") {
  Laid laid(hand_trace({{"GPU", "s", LaneKind::gpu_stream, {{{"k", 0, 20, Kind::kernel}}, {{"l", 15, 40, Kind::kernel}}}}}));
  const LaneLayout layout = laid.layout();
  const auto k = layout.place_of(*laid.trace, SliceId(0)), l = layout.place_of(*laid.trace, SliceId(1));
  REQUIRE(k);
  REQUIRE(l);
  CHECK(l->strip.y >= k->strip.y + k->strip.height);
  CHECK(l->strip.y + l->strip.height <= layout.bands()[1].bottom());
}

TEST_CASE("of many streams the six busiest are shown, the others behind a line that opens") {
  Laid laid(many_streams());
  CHECK(laid.order() == "[GPU] s12 s13 s14 s15 s16 s17 +12 [p] main");
  const LaneLayout folded = laid.layout();
  CHECK(folded.band_of(LaneId(1))->kind == BandKind::more_streams);
  CHECK(folded.top_count() == 8);
  toggle_all_streams(laid.folds, laid.trace->lane(LaneId(1)).process);
  CHECK(laid.layout().bands().size() == 2 + 18 + 1 + 1);
  toggle_all_streams(laid.folds, laid.trace->lane(LaneId(1)).process);
  unfold_lane(laid.folds, *laid.trace, LaneId(1));
  CHECK(laid.layout().band_of(LaneId(1))->kind == BandKind::lane);
  set_filter(laid.folds, "s3");
  CHECK(laid.order() == "[GPU] s3");
}

TEST_CASE("streams can be hidden, pinned and folded like any lane") {
  Laid laid(many_streams());
  hide_lane(laid.folds, LaneId(18));
  CHECK(laid.order() == "[GPU] s12 s13 s14 s15 s16 +12 [p] main");
  set_pinned(laid.folds, LaneId(17), true);
  CHECK(laid.order() == "s16 [GPU] s12 s13 s14 s15 +12 [p] main");
  CHECK(laid.layout().pinned_count() == 1);
  toggle_lane(laid.folds, LaneId(16));
  CHECK(laid.layout().band_of(LaneId(16))->collapsed);
  toggle_process(laid.folds, laid.trace->lane(LaneId(16)).process);
  CHECK(laid.order() == "s16 [GPU] [p] main");
}

TEST_CASE("the thread that launches most comes first, and its process before others") {
  auto trace = hand_trace({{"q", "idle", LaneKind::cpu_thread, {{{"a", 0, 10}}}},
                           {"p", "main", LaneKind::cpu_thread, {{{"cudaLaunchKernel", 0, 10, Kind::runtime}}}},
                           {"p",
                            "backward",
                            LaneKind::cpu_thread,
                            {{{"cudaLaunchKernel", 0, 10, Kind::runtime}, {"cudaLaunchKernel", 20, 30, Kind::runtime}}}},
                           {"p",
                            "reader",
                            LaneKind::cpu_thread,
                            {{{"cudaEventQuery", 0, 1, Kind::runtime},
                              {"cudaEventQuery", 2, 3, Kind::runtime},
                              {"cudaEventQuery", 4, 5, Kind::runtime}}}}});
  for (std::uint32_t i = 1; i < trace->slice_count(); ++i) trace->calls.push_back({SliceId(i), i});
  Laid laid(trace);
  CHECK(laid.order() == "[p] backward main reader [q] idle");
}

TEST_CASE("a GPU that the user moved below a process is no longer at the top") {
  Laid laid(many_streams());
  CHECK(laid.layout().top_count() == 8);
  move_process(laid.folds, laid.trace->lane(LaneId(0)).process, laid.trace->lane(LaneId(1)).process, /*after=*/false);
  CHECK(laid.order() == "[p] main [GPU] s12 s13 s14 s15 s16 s17 +12");
  CHECK(laid.layout().top_count() == 0);
}
