// Which lanes of two runs represent each other, and what is done to the one done to the other.
#include <doctest/doctest.h>

#include "core/view/compare/lane_partners.h"
#include "tests/support/tiny_traces.h"
#include "tests/support/two_traces.h"

using namespace gapscope;

namespace {

constexpr std::string_view kRank0 = R"json({"traceEvents": [
{"ph": "M", "name": "process_name", "pid": 100, "tid": 0, "args": {"name": "python"}},
{"ph": "X", "cat": "cpu_op", "name": "op", "pid": 100, "tid": 100, "ts": 1, "dur": 9},
{"ph": "X", "cat": "cpu_op", "name": "other", "pid": 100, "tid": 170, "ts": 1, "dur": 5},
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 3, "dur": 2, "args": {"device": 0, "stream": 7}},
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 20, "ts": 3, "dur": 1, "args": {"device": 0, "stream": 20}}
]})json";

constexpr std::string_view kRank1 = R"json({"traceEvents": [
{"ph": "M", "name": "process_name", "pid": 200, "tid": 0, "args": {"name": "python"}},
{"ph": "X", "cat": "cpu_op", "name": "op", "pid": 200, "tid": 200, "ts": 1, "dur": 9},
{"ph": "X", "cat": "kernel", "name": "k", "pid": 1, "tid": 7, "ts": 3, "dur": 2, "args": {"device": 1, "stream": 7}},
{"ph": "X", "cat": "kernel", "name": "k", "pid": 1, "tid": 24, "ts": 3, "dur": 1, "args": {"device": 1, "stream": 24}}
]})json";

struct Two {
  std::shared_ptr<const Document> a = test::document_from_text(kRank0), b = test::document_from_text(kRank1);
  LaneFolds of_a, of_b;
  LanePartners partners;
  Two() {
    reset_folds(of_a, a->trace);
    reset_folds(of_b, b->trace);
    partners = partners_of(a->trace, of_a, b->trace, of_b);
  }
  LaneId lane(const Document& document, std::string_view title) {
    for (std::size_t l = 0; l < document.trace.lanes.size(); ++l)
      if (document.trace.lanes[l].title.find(title) != std::string::npos) return LaneId(l);
    FAIL(title);
    return {};
  }
};

}  // namespace

TEST_CASE("lanes of two ranks are partners by title, else by order, whatever the numbers of GPUs and threads") {
  Two two;
  CHECK(two.partners.lane[two.lane(*two.a, "stream 7").index()] == two.lane(*two.b, "stream 7"));
  CHECK(two.partners.lane[two.lane(*two.a, "stream 20").index()] == two.lane(*two.b, "stream 24"));
  CHECK(two.partners.lane[two.lane(*two.a, "100").index()] == two.lane(*two.b, "200"));
  CHECK_FALSE(two.partners.lane[two.lane(*two.a, "170").index()]);  // the other has one thread only
}

TEST_CASE("what changed in the one is done to its partner, and nothing else") {
  Two two;
  const LaneId thread = two.lane(*two.a, "100"), lonely = two.lane(*two.a, "170"), partner = two.lane(*two.b, "200");
  toggle_lane(two.of_b, two.lane(*two.b, "stream 7"));  // another choice there stays
  const LaneFolds before = two.of_a;
  const std::uint64_t revision = two.of_b.revision;
  toggle_lane(two.of_a, thread);
  toggle_lane(two.of_a, lonely);
  set_pinned(two.of_a, thread, true);
  set_filter(two.of_a, "thread");
  mirror_folds(before, two.of_a, two.partners, two.of_b);
  CHECK(two.of_b.lane_collapsed[partner.index()]);
  CHECK(two.of_b.lane_pinned[partner.index()]);
  CHECK(two.of_b.lane_collapsed[two.lane(*two.b, "stream 7").index()]);
  CHECK_FALSE(two.of_b.lane_collapsed[two.lane(*two.b, "stream 24").index()]);
  CHECK(two.of_b.filter == "thread");
  CHECK(two.of_b.revision > revision);
  const std::uint64_t done = two.of_b.revision;
  mirror_folds(two.of_a, two.of_a, two.partners, two.of_b);
  CHECK(two.of_b.revision == done);
}

TEST_CASE("alongside another trace the threads are folded, and open again alone as they were") {
  Two two;
  const ProcessId cpu = two.a->trace.lane(two.lane(*two.a, "100")).process,
                  gpu = two.a->trace.lane(two.lane(*two.a, "stream 7")).process;
  fold_for_comparison(two.of_a, two.a->trace);
  CHECK(two.of_a.process_collapsed[cpu.index()]);
  CHECK_FALSE(two.of_a.process_collapsed[gpu.index()]);
  toggle_process(two.of_a, cpu);
  fold_for_comparison(two.of_a, two.a->trace);  // once: what a person opened stays open
  CHECK_FALSE(two.of_a.process_collapsed[cpu.index()]);
  toggle_process(two.of_a, gpu);
  unfold_after_comparison(two.of_a);
  CHECK_FALSE(two.of_a.process_collapsed[cpu.index()]);
  CHECK_FALSE(two.of_a.process_collapsed[gpu.index()]);
}
