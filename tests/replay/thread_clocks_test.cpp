// Threads that run at the same time have clocks of their own, and meet where one waits for the other.
#include "core/replay/thread_clocks.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/analyze/gpu/gpu_ops.h"
#include "core/index/lane_index.h"
#include "core/index/link_index.h"
#include "core/index/name_index.h"
#include "core/replay/changes.h"
#include "core/replay/path.h"
#include "core/replay/replay.h"
#include "tests/support/load_text.h"
#include "tests/support/real_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

struct Played {
  explicit Played(std::shared_ptr<const Trace> t)
      : trace(std::move(t)),
        lanes(*trace),
        links(*trace, lanes),
        names(*trace),
        ops(gpu_ops(*trace, links)),
        model(ReplayModel::make(*trace, names, ops)) {}

  ReplayResult with(const std::vector<std::string>& list) const {
    return replay(*model, *read_changes(*trace, names, *model, list));
  }

  std::shared_ptr<const Trace> trace;
  LaneIndex lanes;
  LinkIndex links;
  NameIndex names;
  std::vector<GpuOp> ops;
  std::unique_ptr<const ReplayModel> model;
};

// Microseconds. `thread` launches a kernel that begins 5 later, and waits for it until 3 after its end.
struct Threads {
  std::string text;
  int correlation = 0;

  void put(const std::string& event) { text += (text.empty() ? "" : ",") + event; }
  void launch(int thread, int at, const char* kernel, int length) {
    const std::string args = fmt::format(R"(, "args": {{"correlation": {})", ++correlation);
    put(slice("cudaLaunchKernel", std::to_string(at), "4", args + "}", "cuda_runtime", std::to_string(thread)));
    put(slice(kernel, std::to_string(at + 5), std::to_string(length),
              args + fmt::format(R"(, "device": 0, "stream": {0}}})", thread + 70), "kernel", std::to_string(thread + 70)));
  }
  void launch_and_wait(int thread, int at, const char* kernel, int length) {
    launch(thread, at, kernel, length);
    put(slice("cudaStreamSynchronize", std::to_string(at + 6), std::to_string(length + 2), "", "cuda_runtime",
              std::to_string(thread)));
  }
  void work(int thread, int at, int length) {
    put(slice("aten::mm", std::to_string(at), std::to_string(length), "", "cpu_op", std::to_string(thread)));
  }
};

// Thread 1 is busy from 0 to 5000 and launches every 100; thread 2 waits for kernels of 900 all the while, in operators.
Threads apart() {
  Threads out;
  out.work(1, 0, 5000);
  for (int i = 0; i < 50; ++i) out.launch(1, 10 + 100 * i, "short", 20);
  out.work(2, 0, 5000);
  for (int i = 0; i < 5; ++i) out.launch_and_wait(2, 20 + 950 * i, "long", 900);
  return out;
}

// Both work in the same 1000; thread 2 then waits until 3008, and thread 1, which was stopped since 1000, continues at 3020.
Threads joined() {
  Threads out;
  out.work(1, 0, 1000);
  for (int i = 0; i < 9; ++i) out.launch(1, 10 + 100 * i, "short", 20);
  out.work(2, 0, 3008);
  for (int i = 0; i < 9; ++i) out.launch(2, 12 + 100 * i, "other", 20);
  out.launch_and_wait(2, 1000, "long", 2000);
  out.work(1, 3020, 500);
  out.launch(1, 3100, "last", 50);
  return out;
}

Span call_at(const Played& p, const ReplayResult& result, Ns begin) {
  for (std::size_t c = 0; c < p.model->calls().size(); ++c)
    if (p.model->calls()[c].span.begin == begin) return result.calls[c];
  FAIL("no call begins there");
  return {};
}

void check_unchanged(const Played& p) {
  const ReplayResult same = p.with({});
  CHECK(same.before == same.after);
  for (std::size_t o = 0; o < p.model->ops().size(); ++o) CHECK(same.ops[o] == p.model->ops()[o].span);
  for (std::size_t c = 0; c < p.model->calls().size(); ++c) CHECK(same.calls[c] == p.model->calls()[c].span);
  for (const ReplayedStep& step : same.steps) CHECK(step.before == step.after);
}

void check_path(const Played& p, const std::vector<std::string>& list) {
  const Change change = *read_changes(*p.trace, p.names, *p.model, list);
  const ReplayResult result = replay(*p.model, change);
  Ns at = result.run.begin;
  for (const PathStretch& s : critical_path(*p.model, change, result)) {
    CHECK(s.span.begin == at);
    at = s.span.end;
  }
  CHECK(at == result.run.end);
}

constexpr const char* kQuarter = "kernel .*spin_kernel.*=0.25";

std::string recorded(const std::string& name) { return (recordings_folder() / "replay" / (name + ".json.gz")).string(); }

bool is_near(Ns a, Ns b, double part) {
  return std::abs(static_cast<double>(a - b)) <= part * static_cast<double>(std::max(a, b));
}

Ns median_step(const ReplayResult& result) {
  std::vector<Ns> all;
  for (const ReplayedStep& step : result.steps) all.push_back(step.after.length());
  std::sort(all.begin(), all.end());
  return all.at(all.size() / 2);
}

}  // namespace

TEST_CASE("threads that take turns share a clock, and those of two processes do not") {
  Threads turns;
  for (int i = 0; i < 10; ++i) turns.launch(1 + i % 2, 100 * i, "k", 20);
  const Played p(load_text(events(turns.text)));
  CHECK(p.model->clocks() == 1);
  CHECK(p.model->clocks_at_once() == 0);
  CHECK(p.model->joins().empty());
}

TEST_CASE("what one thread waits for takes nothing off another that runs at the same time") {
  const Played p(load_text(events(apart().text)));
  CHECK(p.model->clocks() == 2);
  CHECK(p.model->clocks_at_once() == 2);
  check_unchanged(p);
  const ReplayResult faster = p.with({"kernel long=0.5"});
  CHECK(call_at(p, faster, 4910'000).begin == 4910'000);                // of the thread that never waits
  CHECK(call_at(p, faster, 3820'000).begin == 3820'000 - 4 * 450'000);  // of the other
  check_path(p, {"kernel long=0.5"});
  check_path(p, {});
}

TEST_CASE("a thread that stood while another worked continues when that one has come, and no sooner than it stopped") {
  const Played p(load_text(events(joined().text)));
  CHECK(p.model->clocks() == 2);
  REQUIRE(p.model->joins().size() == 1);
  CHECK(p.model->joins()[0].stood == Span{1000'000, 3020'000});
  check_unchanged(p);
  CHECK(call_at(p, p.with({"kernel long=0.5"}), 3100'000).begin == 2100'000);
  const ReplayResult none = p.with({"kernel long=0"});
  CHECK(call_at(p, none, 3100'000).begin == 1100'000);
  CHECK(call_at(p, p.with({"kernel long=2"}), 3100'000).begin == 5100'000);
  for (const char* change : {"kernel long=0.5", "kernel long=0", "kernel long=2", "gpu 1", "no-wait"}) check_path(p, {change});
  // Through the long kernel, though the last call is of the thread that did not launch it.
  const Change change;
  const ReplayResult result = replay(*p.model, change);
  Ns in_long = 0;
  for (const PathStretch& s : critical_path(*p.model, change, result))
    if (s.by == HeldBy::queue && p.trace->name(s.slice) == "long") in_long += s.span.length();
  CHECK(in_long == 2000'000);
}

// On an H100, two threads in turn launching and waiting: 30 small products a step on one, four kernels that spin on the other;
// recorded again with these at a quarter. Apart: neither waits for the other. Joined: each step both begin together, and the
// first waits for the second.
TEST_CASE("a recorded thread keeps its pace whatever another that it does not wait for is spared") {
  const Played before(load_once(recorded("threads_apart_before"))), after(load_once(recorded("threads_apart_after")));
  for (const Played* p : {&before, &after}) {
    CHECK(p->model->clocks_at_once() == 2);
    check_unchanged(*p);
  }
  const ReplayResult quarter = before.with({kQuarter});
  REQUIRE(quarter.steps.size() == 6);
  for (const ReplayedStep& step : quarter.steps) CHECK(step.after.length() == step.before.length());
  CHECK(is_near(median_step(quarter), median_step(after.with({})), 0.05));
  check_path(before, {kQuarter});
}

TEST_CASE("a recorded thread that waited for another waits for as long as it then takes, and its own work stays") {
  const Played before(load_once(recorded("threads_joined_before"))), after(load_once(recorded("threads_joined_after")));
  for (const Played* p : {&before, &after}) {
    CHECK(p->model->clocks_at_once() == 2);
    check_unchanged(*p);
  }
  const ReplayResult quarter = before.with({kQuarter});
  REQUIRE(quarter.steps.size() == 6);
  for (const ReplayedStep& step : quarter.steps) {
    // Its own calls ended 1.17 to 1.28 ms after the step began; the other's wait then ends after 0.7.
    CHECK(step.after.length() > 1100'000);
    CHECK(step.after.length() < 1300'000);
  }
  CHECK(median_step(after.with({})) < median_step(quarter));
  CHECK(is_near(median_step(before.with({"kernel .*spin_kernel.*=1.5"})), median_step(before.with({})) + 1190'000, 0.02));
  check_path(before, {kQuarter});
}

// Recorded with enable_cuda_sync_events: products on one stream, sin_ on another, each waiting for the other by events.
TEST_CASE(
    "work of two streams that wait for each other's events is as long as it was recorded with the second's at a quarter") {
  const Played before(load_once(recorded("stream_waits_before"))), after(load_once(recorded("stream_waits_after")));
  for (const Played* p : {&before, &after}) {
    CHECK(p->model->clocks_at_once() == 0);
    CHECK(p->model->event_waits().size() == 48);
    check_unchanged(*p);
  }
  CHECK(is_near(median_step(before.with({"kernel .*sin_kernel.*=0.25"})), median_step(after.with({})), 0.03));
  check_path(before, {"kernel .*sin_kernel.*=0.25"});
}
