#include "core/view/timeline/flow_choice.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/view/timeline/flow_paint.h"
#include "tests/support/tiny_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

// A forward operator with a launch, and its backward operator, which wraps the operator that launches.
constexpr std::string_view kTraining = R"({"traceEvents": [
  {"ph":"X","cat":"cpu_op","name":"aten::linear","pid":10,"tid":11,"ts":100,"dur":100},
  {"ph":"X","cat":"cpu_op","name":"aten::addmm","pid":10,"tid":11,"ts":110,"dur":80},
  {"ph":"X","cat":"cuda_runtime","name":"launch forward","pid":10,"tid":11,"ts":120,"dur":5,"args":{"correlation":1}},
  {"ph":"X","cat":"kernel","name":"kernel forward","pid":0,"tid":7,"ts":130,"dur":5,"args":{"correlation":1,"device":0,"stream":7}},
  {"ph":"X","cat":"cpu_op","name":"AddmmBackward0","pid":10,"tid":12,"ts":400,"dur":100},
  {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":10,"tid":12,"ts":410,"dur":80},
  {"ph":"X","cat":"cuda_runtime","name":"launch backward","pid":10,"tid":12,"ts":420,"dur":5,"args":{"correlation":2}},
  {"ph":"X","cat":"kernel","name":"kernel backward","pid":0,"tid":7,"ts":437.5,"dur":5,"args":{"correlation":2,"device":0,"stream":7}},
  {"ph":"s","cat":"fwdbwd","name":"fwdbwd","id":1,"pid":10,"tid":11,"ts":110},
  {"ph":"f","bp":"e","cat":"fwdbwd","name":"fwdbwd","id":1,"pid":10,"tid":12,"ts":400}
]})";

struct Training {
  std::shared_ptr<const Document> doc = document_from_text(kTraining);
  SliceId at(std::string_view name) const { return slice_named(*doc, name); }
  bool has_arrow(std::string_view selected, std::string_view from, std::string_view to) const {
    const Chain chain = chain_of(*doc, at(selected));
    return std::count(chain.arrows.begin(), chain.arrows.end(), Arrow{at(from), at(to), {}}) == 1;
  }
};

}  // namespace

TEST_CASE("the chain of a forward operator continues to its backward operator and what that launches") {
  const Training t;
  for (const char* selected : {"aten::addmm", "aten::linear"}) {
    CAPTURE(selected);
    CHECK(t.has_arrow(selected, "launch forward", "kernel forward"));
    CHECK(t.has_arrow(selected, "aten::addmm", "AddmmBackward0"));
    CHECK(t.has_arrow(selected, "launch backward", "kernel backward"));
  }
}

TEST_CASE("the chain of a kernel leads back to the forward operator") {
  const Training t;
  for (const char* selected : {"kernel backward", "launch backward", "aten::mm", "AddmmBackward0"}) {
    CAPTURE(selected);
    CHECK(t.has_arrow(selected, "aten::addmm", "AddmmBackward0"));
    CHECK(t.has_arrow(selected, "launch backward", "kernel backward"));
    CHECK_FALSE(t.has_arrow(selected, "launch forward", "kernel forward"));
  }
  CHECK(t.has_arrow("kernel forward", "launch backward", "kernel backward"));
}

TEST_CASE("arrows of a slice are walked round and round, both ways") {
  const Training t;
  ViewState view;
  view.window.settings.animate = false;
  view.active().time = {t.doc->trace.span, 0, 0};
  view.active().selection = t.at("aten::linear");  // touches none itself: those of its chain
  const std::vector<Arrow> arrows = arrows_of(*t.doc, view.active().selection);
  REQUIRE(arrows.size() == 3);
  CHECK_FALSE(chosen_arrow(view.active()).has_value());
  for (std::size_t i = 0; i < 4; ++i) {
    walk_arrows(*t.doc, view.active(), view.window, 1);
    CHECK(chosen_arrow(view.active()) == arrows[i % 3]);
  }
  walk_arrows(*t.doc, view.active(), view.window, -1);
  CHECK(chosen_arrow(view.active()) == arrows[2]);
  view.active().selection = t.at("aten::mm");
  CHECK_FALSE(chosen_arrow(view.active()).has_value());
}

TEST_CASE("an arrow is followed to its other end and back") {
  const Training t;
  ViewState view;
  view.active().selection = t.at("launch backward");
  CHECK(end_of_arrow(*t.doc, view.active(), true) == t.at("kernel backward"));
  CHECK_FALSE(end_of_arrow(*t.doc, view.active(), false).valid());
  view.active().selection = t.at("kernel backward");
  CHECK(end_of_arrow(*t.doc, view.active(), false) == t.at("launch backward"));
  view.active().selection = t.at("AddmmBackward0");
  CHECK(end_of_arrow(*t.doc, view.active(), false) == t.at("aten::addmm"));
}

TEST_CASE("a launch arrow shows the time from the begin of the launch to that of its kernel") {
  const Training t;
  CHECK(latency_text(*t.doc, t.at("launch backward"), t.at("kernel backward")) == "17.5 µs");
  CHECK(latency_text(*t.doc, t.at("aten::addmm"), t.at("AddmmBackward0")).empty());
}

TEST_CASE("of curves that begin and end in the same pixel columns one is drawn") {
  const Training t;
  std::vector<FlowCurve> curves(5);
  for (FlowCurve& c : curves) c.from = t.at("launch forward"), c.to = t.at("kernel forward");
  curves[4].from = t.at("launch backward");
  curves[4].to = t.at("kernel backward");
  thin_curves(t.doc->trace, PixelGrid({t.doc->trace.span, 0, 0}, 1000, t.doc->trace.span.begin), curves);
  CHECK(curves.size() == 2);
  thin_curves(t.doc->trace, PixelGrid({{0, 4'000'000'000}, 0, 0}, 10, 0), curves);
  CHECK(curves.size() == 2);  // in one column, but of other threads
}

TEST_CASE("figures of arrows are reported only when all of a kind are shown") {
  FlowsState flows;
  CHECK(flow_figures(flows).empty());
  flows.show = FlowShow::launches;
  flows.in_sight = 1234;
  flows.drawn = 200;
  CHECK(flow_figures(flows) == "Arrows: launches, 1,234 start here, 200 drawn");
  CHECK(next_flow_show(FlowShow::all) == FlowShow::selection);
}

namespace {

// A step of `launches` launches by two threads, each of one kernel.
std::shared_ptr<const Document> step_of(int launches) {
  std::string text =
      R"({"traceEvents": [{"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":1,"ts":0,"dur":100000})";
  for (int i = 0; i < launches; ++i) {
    const std::string at = std::to_string(10 + 10 * i), id = std::to_string(i + 1);
    text += R"(,{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":)" + std::to_string(1 + i % 2) +
            R"(,"ts":)" + at + R"(,"dur":2,"args":{"correlation":)" + id + "}}";
    text += R"(,{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":)" + at +
            R"(.5,"dur":3,"args":{"device":0,"stream":7,"correlation":)" + id + "}}";
  }
  return document_from_text(text + "]}");
}

}  // namespace

TEST_CASE("a step of much GPU work highlights all of it and draws few arrows") {
  const auto doc = step_of(300);
  const Chain chain = chain_of(*doc, slice_named(*doc, "ProfilerStep#1"));
  CHECK(chain.work.size() == 300);  // of both threads
  CHECK(chain.arrow_count == 300);
  CHECK(chain.arrows.size() == kMostArrows);
  CHECK(chain.members.size() <= 2 * kMostArrows);
  // Evenly over the step.
  Ns last = 0;
  for (const Arrow& arrow : chain.arrows) last = std::max(last, doc->trace.begin(arrow.to));
  CHECK(last > doc->trace.span.begin + 280 * 10'000);
  for (const SliceId kernel : chain.work) CHECK(holds_work(doc->trace, chain.work, kernel, doc->trace.span_of(kernel)));
  CHECK_FALSE(holds_work(doc->trace, chain.work, slice_named(*doc, "ProfilerStep#1"), doc->trace.span));
  FlowsState flows;
  flows.of_selection = chain.arrow_count;
  flows.of_selection_drawn = chain.arrows.size();
  CHECK(flow_figures(flows) == "20 of 300 arrows");
}

TEST_CASE("of a step of little GPU work each kernel has its arrow and outline") {
  const auto doc = step_of(3);
  const Chain chain = chain_of(*doc, slice_named(*doc, "ProfilerStep#1"));
  CHECK(chain.work.empty());
  CHECK(chain.arrows.size() == 3);
  CHECK(chain.members.size() == 6);
  CHECK(flow_figures({}).empty());
}
