// The replay over every recording at hand: without a change nothing moves, and the critical path is as long as the run.
#include "core/replay/replay.h"

#include <algorithm>
#include <random>

#include <doctest/doctest.h>

#include "core/replay/changes.h"
#include "core/replay/host_clock.h"
#include "core/replay/path_sums.h"
#include "core/view/document.h"
#include "tests/support/load_text.h"
#include "tests/support/real_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

struct Replayed {
  explicit Replayed(std::shared_ptr<const Trace> t)
      : document(std::move(t)),
        ops(gpu_ops(document.trace, document.links)),
        model(ReplayModel::make(document.trace, document.names, ops)) {}

  Result<Change> read(const std::vector<std::string>& list) const {
    return read_changes(document.trace, document.names, *model, list);
  }

  Document document;
  std::vector<GpuOp> ops;
  std::unique_ptr<const ReplayModel> model;
};

// A launch at 10, a kernel from 20 to 120, a wait until 125, a second launch at 130 of a kernel from 140 to 150 (us).
std::string two_kernels() {
  return events(slice("cudaLaunchKernel", "10", "5", R"(, "args": {"correlation": 1})", "cuda_runtime") + "," +
                slice("k1", "20", "100", R"(, "args": {"correlation": 1, "device": 0, "stream": 7})", "kernel", "70") + "," +
                slice("cudaDeviceSynchronize", "20", "105", "", "cuda_runtime") + "," +
                slice("cudaLaunchKernel", "130", "5", R"(, "args": {"correlation": 2})", "cuda_runtime") + "," +
                slice("k2", "140", "10", R"(, "args": {"correlation": 2, "device": 0, "stream": 7})", "kernel", "70"));
}

Ns length_with(const Replayed& r, const std::vector<std::string>& list) { return replay(*r.model, *r.read(list)).after; }

Ns path_length(const Replayed& r, const Change& change) {
  const ReplayResult result = replay(*r.model, change);
  Ns sum = 0, at = result.run.begin;
  for (const PathStretch& s : critical_path(*r.model, change, result)) {
    CHECK(s.span.begin == at);
    at = s.span.end;
    sum += s.span.length();
  }
  CHECK(sum == result.after);
  return sum;
}

}  // namespace

TEST_CASE("a wait is shorter with what it waits for, and what follows comes sooner") {
  const Replayed r(load_text(two_kernels()));
  CHECK(r.model->latency() == 10'000);
  CHECK(r.model->waits() == 1);
  CHECK(length_with(r, {}) == 140'000);
  CHECK(length_with(r, {"gpu 0.5"}) == 140'000 - 50'000 - 5'000);
  CHECK(length_with(r, {"kernel k1=0.5"}) == 90'000);
  CHECK(length_with(r, {"kernel k.=0.5"}) == 85'000);
  CHECK(length_with(r, {"no-wait"}) == 120'000);  // the second kernel begins when the first one ends
  CHECK(length_with(r, {"gpu 0"}) == 30'000 - 13'000 + 0 + 13'000);
}

TEST_CASE("a change that cannot be read is an error that says why") {
  const Replayed r(load_text(two_kernels()));
  for (const char* text : {"gpu", "gpu x", "gpu -1", "gpu nan", "gpu 1e9", "host 1001", "kernel k1", "kernel (=1",
                           "kernel nothing=1", "remove nothing", "remove *nothing*", "faster"})
    CHECK_MESSAGE(!r.read({text}).ok(), text);
  CHECK(r.read({"host 100", "gpu 10", "gpu 0.001"}).ok());
  CHECK_FALSE(r.read({"host 100", "host 11"}).ok());
  CHECK_FALSE(r.read({"gpu 0", "kernel k1=100", "gpu 11"}).ok());
}

TEST_CASE("without a change nothing moves, and the path is as long as the run") {
  for (const auto& path : real_traces()) {
    CAPTURE(path.string());
    const Replayed r(load_once(path));
    const ReplayResult result = replay(*r.model, {});
    CHECK(result.before == result.after);
    for (std::size_t o = 0; o < r.model->ops().size(); ++o) CHECK(result.ops[o] == r.model->ops()[o].span);
    for (const ReplayedStep& s : result.steps) CHECK(s.before == s.after);
    if (r.model->empty()) continue;
    path_length(r, {});
    for (const char* change : {"gpu 0.5", "host 0.5", "no-wait", "graph", "overlap-copies", "host 3"}) {
      CAPTURE(change);
      path_length(r, *r.read({change}));
    }
  }
}

TEST_CASE("the sums of a path, and the parts of the run, are as long as the run") {
  for (const char* name : {"needless_sync", "mlp_geglu_eager", "ddp_rank0"}) {
    CAPTURE(name);
    const Replayed r(load_once(recording(name)));
    const HostTime host(r.document.trace);
    for (const char* text : {"gpu 1", "host 0.5", "no-wait"}) {
      const Change change = *r.read({text});
      const ReplayResult result = replay(*r.model, change);
      Ns sum = 0;
      for (const PathSum& s : path_sums(r.document.trace, host, change, critical_path(*r.model, change, result))) sum += s.time;
      CHECK(sum == result.after);
      const AccountTimes times =
          times_after(r.document.trace, host, *r.model, change, result, gpu_busy(*r.model, result).device);
      CHECK(times.compute + times.exposed_communication + times.exposed_copies + times.idle_total() == result.after);
    }
  }
}

TEST_CASE("a launch that found its queue full comes sooner with a faster GPU, where that is asked for") {
  // 1,500 kernels of 100 us, launched every 10 us until 1,020 of them have not begun; then each launch waits for room.
  constexpr int kLaunches = 1500, kRoom = 1020;
  std::string text;
  int at = 0;
  std::uint32_t full = 0;
  for (int i = 0; i < kLaunches; ++i) {
    const int room = i < kRoom ? 0 : 20 + 100 * (i - kRoom + 1);  // when that many have ended
    const int length = std::max(5, room + 9 - at);
    full += room > at ? 1 : 0;
    const std::string args = R"(, "args": {"correlation": )" + std::to_string(i + 1);
    if (i > 0) text += ',';
    text += slice("cudaLaunchKernel", std::to_string(at), std::to_string(length), args + "}", "cuda_runtime") + ',' +
            slice("k", std::to_string(20 + 100 * i), "100", args + R"(, "device": 0, "stream": 7})", "kernel", "70");
    at += length + 5;
  }
  const Replayed r(load_text(events(text)));
  CHECK(r.model->waits() == 0);
  CHECK(r.model->full() == full);
  CHECK(length_with(r, {"full-queues"}) == r.model->run().length());
  CHECK(length_with(r, {"gpu 0.1"}) > 45'000'000);  // the host's time is what it was
  const Ns faster = length_with(r, {"gpu 0.1", "full-queues"});
  CHECK(faster > 15'000'000);
  CHECK(faster < 20'000'000);
  CHECK(length_with(r, {"no-wait", "full-queues"}) == r.model->run().length());
  path_length(r, *r.read({"gpu 0.5", "full-queues"}));
}

TEST_CASE("a replay can be stopped") {
  const Replayed r(load_text(two_kernels()));
  const std::atomic<bool> stop = true;
  CHECK(replay(*r.model, {}, &stop).cancelled);
  CHECK(ReplayModel::make(r.document.trace, r.document.names, r.ops, &stop) == nullptr);
}

TEST_CASE("what a stream waits for by an event ends before it continues") {
  // Stream 7 from 10 to 110; stream 20 waits from 40 on for what was recorded at 30, and runs from 113 to 123 (us).
  const auto text = [](const char* device) {
    return events(
        slice("cudaLaunchKernel", "0", "5", R"(, "args": {"correlation": 1})", "cuda_runtime") + "," +
        slice("k1", "10", "100", R"(, "args": {"correlation": 1, "device": 0, "stream": 7})", "kernel", "7") + "," +
        slice("cudaEventRecordWithFlags", "30", "2", R"(, "args": {"correlation": 2})", "cuda_runtime") + "," +
        slice("cudaStreamWaitEvent", "40", "2", R"(, "args": {"correlation": 3})", "cuda_runtime") + "," +
        slice("Stream Wait Event", "45", "1",
              std::string(R"(, "args": {"correlation": 3, "stream": 20, "wait_on_stream": -1, "device": )") + device + "}",
              "cuda_sync", "20") +
        "," + slice("cudaLaunchKernel", "50", "5", R"(, "args": {"correlation": 4})", "cuda_runtime") + "," +
        slice("k2", "113", "10", R"(, "args": {"correlation": 4, "device": 0, "stream": 20})", "kernel", "20"));
  };
  const Replayed r(load_text(text("0")));
  REQUIRE(r.model->event_waits().size() == 1);
  CHECK(r.model->ops()[r.model->event_waits()[0].op].gap == 3'000);
  CHECK(length_with(r, {}) == 123'000);
  CHECK(length_with(r, {"kernel k1=0.5"}) == 73'000);
  CHECK(length_with(r, {"kernel k1=2"}) == 223'000);
  CHECK(length_with(r, {"kernel k1=0"}) == 73'000);  // launched at 50, 10 later, 3 later
  path_length(r, *r.read({"kernel k1=0.5"}));
  const Replayed elsewhere(load_text(text("1")));  // of another device
  CHECK(elsewhere.model->event_waits().empty());
  CHECK(length_with(elsewhere, {"kernel k1=2"}) == 210'000);
}

TEST_CASE("HIP's copies with a stream wait, whatever the clocks of host and GPU say") {
  // The copy ends 0.9 us after its call has returned.
  const Replayed r(load_text(events(
      slice("hipMemcpyWithStream", "0", "50", R"(, "args": {"correlation": 1})", "cuda_runtime") + "," +
      slice("Memcpy DtoH", "10", "40.9", R"(, "args": {"correlation": 1, "device": 0, "stream": 0})", "gpu_memcpy", "7") + "," +
      slice("hipLaunchKernel", "60", "5", R"(, "args": {"correlation": 2})", "cuda_runtime") + "," +
      slice("k", "70", "10", R"(, "args": {"correlation": 2, "device": 0, "stream": 0})", "kernel", "7"))));
  CHECK(r.model->waits() == 1);
  CHECK(length_with(r, {}) == 80'000);
  CHECK(length_with(r, {"kernel Memcpy DtoH=0"}) == 80'000 - 40'900);
}

TEST_CASE("a copy of pageable memory waits for its queue where full queues do, though its call returns before the copy ends") {
  const auto text = [](const char* memory) {
    return events(slice("cudaLaunchKernel", "0", "5", R"(, "args": {"correlation": 1})", "cuda_runtime") + "," +
                  slice("k", "10", "100", R"(, "args": {"correlation": 1, "device": 0, "stream": 7})", "kernel", "7") + "," +
                  slice("cudaMemcpyAsync", "20", "120", R"(, "args": {"correlation": 2})", "cuda_runtime") + "," +
                  slice(memory, "112", "40", R"(, "args": {"correlation": 2, "device": 0, "stream": 7})", "gpu_memcpy", "7"));
  };
  const Replayed r(load_text(text("Memcpy HtoD (Pageable -> Device)")));
  CHECK(length_with(r, {"full-queues"}) == 152'000);
  CHECK(length_with(r, {"kernel k=0", "full-queues"}) == 72'000);  // the copy: launched at 20, 10 later, 2 later, for 40
  CHECK(length_with(r, {"kernel k=0"}) == 140'000);                // the host's time is what it was
  const Replayed pinned(load_text(text("Memcpy HtoD (Pinned -> Device)")));
  CHECK(length_with(pinned, {"kernel k=0", "full-queues"}) == 140'000);
}

TEST_CASE("launches in a row that become one leave the host's time between them, and no other launch's") {
  // Launches at 0, 20, 40 and 60 us of 5 us each; the second and the third are fused.
  std::string text;
  for (int i = 0; i < 4; ++i) {
    const std::string args = R"(, "args": {"correlation": )" + std::to_string(i + 1);
    text += (i > 0 ? "," : "") + slice("cudaLaunchKernel", std::to_string(20 * i), "5", args + "}", "cuda_runtime") + "," +
            slice("k", std::to_string(20 * i + 8), "4", args + R"(, "device": 0, "stream": 7})", "kernel", "70");
  }
  const Replayed r(load_text(events(text)));
  CHECK(in_one_launch(*r.model, {1, 2}).removed == SpanSet{{25'000, 45'000}});
  CHECK(in_one_launch(*r.model, {0, 2}).removed.empty());
  const Change change = in_one_launch(*r.model, {1, 2});
  CHECK(replay(*r.model, change).after == r.model->run().length() - 20'000);
}

TEST_CASE("what is not launched by itself has no gap of its own") {
  // Three launches at once, of kernels of 10 us at 10, 25 and 45 us.
  std::string text;
  const char* const at[] = {"10", "25", "45"};
  for (int i = 0; i < 3; ++i) {
    const std::string args = R"(, "args": {"correlation": )" + std::to_string(i + 1);
    text += (i > 0 ? "," : "") + slice("cudaLaunchKernel", std::to_string(i), "1", args + "}", "cuda_runtime") + "," +
            slice("k", at[i], "10", args + R"(, "device": 0, "stream": 7})", "kernel", "70");
  }
  const Replayed r(load_text(events(text)));
  CHECK(replay(*r.model, scaled_ops(*r.model, {1}, 0.5)).after == 50'000);
  CHECK(replay(*r.model, scaled_ops(*r.model, {1}, 0)).after == 40'000);  // with its gap of 5
  CHECK(replay(*r.model, in_one_launch(*r.model, {0, 1, 2})).after == 40'000);
  CHECK(replay(*r.model, as_graph(*r.model)).after == 40'800);
}

TEST_CASE("a call's end is found from its begin as by a search among all that is taken away") {
  const Document d(load_once(recording("needless_sync")));
  const auto model = ReplayModel::make(d.trace, d.names, gpu_ops(d.trace, d.links));
  REQUIRE(model->calls().size() > 10);
  std::mt19937 random(1);
  for (const int every : {1, 3, 40}) {
    Change change;
    Ns to = model->run().begin;
    for (std::size_t c = 0; c < model->calls().size();
         c += static_cast<std::size_t>(every)) {  // cut in the middle of calls, too
      const Span call = model->calls()[c].span;
      const Ns begin = std::max(to, call.begin + static_cast<Ns>(random() % 4000)),
               length = 1 + static_cast<Ns>(random() % 8000);
      append(change.removed, {begin, begin + length});
      to = begin + length;
    }
    HostClock found(*model, change), searched(*model, change);
    std::size_t inside = 0;
    for (std::uint32_t c = 0; c < model->calls().size(); ++c) {
      const ReplayModel::HostCall& call = model->calls()[c];
      CHECK(found.at_end_of(c) == searched.now(call.clock, call.span.end));
      inside += length_within(change.removed, {call.span.end, call.span.end + 1}) > 0 ? 1 : 0;
      found.set_end_of(c, call.span.end + 7 * c);
      searched.set(call.clock, call.span.end, call.span.end + 7 * c);
      CHECK(found.after(call.clock, call.span.end) == searched.after(call.clock, call.span.end));
    }
    CHECK(inside > 0);
  }
}
