#include "core/index/arrow_index.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>

#include "core/view/timeline/flow_paint.h"
#include "tests/support/tiny_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

// `count` launches with one kernel each at uneven times, and as many arrows from forward to backward operators.
std::string many_launches(int count) {
  std::mt19937 random(7);
  std::string text = R"({"traceEvents": [)";
  int ts = 100;
  for (int i = 0; i < count; ++i) {
    ts += 3 + static_cast<int>(random() % 60);
    const std::string id = std::to_string(i + 1), at = std::to_string(ts);
    const auto event = [&](const std::string& head, int tid, int t, const std::string& args) {
      text += (text.back() == '[' ? "" : ",") + std::string("{") + head + R"(,"pid":)" + (tid == 7 ? "0" : "10") +
              R"(,"tid":)" + std::to_string(tid) + R"(,"ts":)" + std::to_string(t) + args + "}";
    };
    event(R"("ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel")", 11, ts,
          R"(,"dur":2,"args":{"correlation":)" + id + "}");
    event(R"("ph":"X","cat":"kernel","name":"k")", 7, ts + 500,
          R"(,"dur":1,"args":{"device":0,"stream":7,"correlation":)" + id + "}");
    event(R"("ph":"s","cat":"ac2g","name":"ac2g","id":)" + id, 11, ts, "");
    event(R"("ph":"f","bp":"e","cat":"ac2g","name":"ac2g","id":)" + id, 7, ts + 500, "");
    event(R"("ph":"X","cat":"cpu_op","name":"forward")", 12, ts, R"(,"dur":2)");
    event(R"("ph":"X","cat":"cpu_op","name":"backward")", 13, ts + 300, R"(,"dur":2)");
    event(R"("ph":"s","cat":"fwdbwd","name":"fwdbwd","id":)" + id, 12, ts, "");
    event(R"("ph":"f","bp":"e","cat":"fwdbwd","name":"fwdbwd","id":)" + id, 13, ts + 300, "");
  }
  return text + "]}";
}

struct Many {
  Many() : doc(document_from_text(many_launches(5000))), index(doc->trace, doc->links) {}
  std::shared_ptr<const Document> doc;
  ArrowIndex index;

  std::set<SliceId> sources(Span visible, std::size_t most) const {
    std::vector<Arrow> arrows;
    index.choose(ArrowGroup::launches, visible, most, arrows);
    std::set<SliceId> out;
    for (const Arrow& a : arrows) out.insert(a.from);
    return out;
  }
  bool touches(SliceId call, Span span) const {
    const SliceId kernel = doc->links.launched_by(call).front();
    return span.contains(doc->trace.begin(call)) || span.contains(doc->trace.begin(kernel));
  }
  bool inside(SliceId call, Span span) const {
    const SliceId kernel = doc->links.launched_by(call).front();
    return span.contains(doc->trace.begin(call)) && span.contains(doc->trace.begin(kernel));
  }
};

}  // namespace

TEST_CASE("a launch that the file states twice, by correlation and by flow, is one arrow") {
  const Many many;
  CHECK(many.doc->trace.flows.size() == 10'000);
  CHECK(many.index.count(ArrowGroup::launches) == 5000);
  CHECK(many.index.count(ArrowGroup::forward_backward) == 5000);
  CHECK(many.index.count(ArrowGroup::other) == 0);
}

TEST_CASE("arrows that start in a stretch of time are counted as a naive count does") {
  const Many many;
  const Trace& trace = many.doc->trace;
  std::mt19937 random(3);
  for (int i = 0; i < 200; ++i) {
    const Ns a = trace.span.begin + static_cast<Ns>(random() % static_cast<unsigned>(trace.span.length()));
    const Span span{a, a + 1 + static_cast<Ns>(random() % 30'000'000)};
    const auto naive = std::count_if(trace.calls.begin(), trace.calls.end(),
                                     [&](const Call& c) { return span.contains(trace.begin(c.slice)); });
    CHECK(many.index.starting_in(ArrowGroup::launches, span) == static_cast<std::size_t>(naive));
  }
}

TEST_CASE("with room for all, every arrow with an end in sight is chosen, and no other") {
  const Many many;
  const Span visible{many.doc->trace.span.begin + 20'000'000, many.doc->trace.span.begin + 40'000'000};
  const std::set<SliceId> chosen = many.sources(visible, 1'000'000);
  std::size_t naive = 0;
  for (const Call& c : many.doc->trace.calls) {
    if (!many.touches(c.slice, visible)) continue;
    ++naive;
    CHECK(chosen.count(c.slice) == 1);
  }
  REQUIRE(naive > 100);
  CHECK(chosen.size() <= naive + 200);  // the outermost buckets reach a little beyond what is visible
}

TEST_CASE("however many arrows are in sight, few are chosen") {
  const Many many;
  CHECK(many.index.starting_in(ArrowGroup::launches, many.doc->trace.span) > 4990);
  for (const FlowShow show : {FlowShow::launches, FlowShow::forward_backward, FlowShow::all}) {
    const SceneArrows scene = scene_arrows(many.index, show, many.doc->trace.span);
    CHECK(scene.arrows.size() <= kMostSceneArrows);
    CHECK(scene.arrows.size() >= kMostSceneArrows / 8);
  }
  CHECK(kMostSceneArrows < 400);
}

TEST_CASE("panning neither adds nor drops an arrow whose ends stay in sight") {
  const Many many;
  const Ns length = 30'000'000;
  Span last{many.doc->trace.span.begin, many.doc->trace.span.begin + length};
  std::set<SliceId> before = many.sources(last, 3);
  for (int i = 0; i < 100; ++i) {
    const Span now{last.begin + 217'013, last.end + 217'013};
    const std::set<SliceId> after = many.sources(now, 3);
    const Span both = intersect(last, now);
    const Span inner{both.begin + length / 16, both.end - length / 16};  // clear of buckets that come or go
    for (const SliceId s : before) CHECK((!many.inside(s, inner) || after.count(s) == 1));
    for (const SliceId s : after) CHECK((!many.inside(s, inner) || before.count(s) == 1));
    last = now;
    before = after;
  }
}

TEST_CASE("zooming in keeps every arrow that was drawn and whose ends are still in sight") {
  const Many many;
  const Ns middle = many.doc->trace.span.begin + 70'000'000;
  std::set<SliceId> before;
  for (Ns half = 64'000'000; half > 1'000'000; half = half * 3 / 4) {
    const Span visible{middle - half, middle + half};
    const std::set<SliceId> now = many.sources(visible, 3);
    for (const SliceId s : before) CHECK((!many.inside(s, visible) || now.count(s) == 1));
    before = now;
  }
}
