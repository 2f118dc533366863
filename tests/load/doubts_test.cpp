// What is not as recordings are: each kind planted at several sizes, and what is near it and no fault.
#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/trace/trace.h"
#include "tests/support/kineto_text.h"
#include "tests/support/load_text.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

const Doubt* doubt(const Trace& trace, DoubtKind kind) { return find_doubt(trace.doubts, kind); }

std::vector<SliceId> work_of(const Trace& trace) {
  std::vector<SliceId> out;
  for (const GpuRow& row : trace.gpu)
    if (is_gpu_work(trace.kind(row.slice))) out.push_back(row.slice);
  return out;
}

// Forty launches 100 us apart; kernels of 60 us begin `delay_us` after the launch. Half have a delay of their own on top.
std::string clocks(double delay_us, double jitter_us = 0) {
  KinetoText text;
  for (int i = 0; i < 40; ++i) {
    const double launch = 5e6 + 100 * i;
    text.launched(i + 1, launch, launch + delay_us + (i % 2 == 0 ? 0 : jitter_us), 60);
  }
  return text.text();
}

Ns least_delay(const Trace& trace) {
  Ns least = 1'000'000'000'000;
  for (const GpuRow& row : trace.gpu)
    for (const Call& call : trace.calls)
      if (call.correlation == row.correlation) least = std::min(least, trace.begin(row.slice) - trace.begin(call.slice));
  return least;
}

}  // namespace

TEST_CASE("a GPU's clock that is behind the host's is moved by what every pair agrees on, whatever its size") {
  for (const double behind_us : {20.0, 100.0, 3'000.0, 1.5e6, 3.6e9}) {
    CAPTURE(behind_us);
    const auto trace = load_text(clocks(16 - behind_us, 3));
    const Doubt* const d = doubt(*trace, DoubtKind::clock_offset);
    if (behind_us <= 20) {  // 4 us before the launch: clocks of one machine differ by as much
      CHECK(d == nullptr);
      continue;
    }
    REQUIRE(d != nullptr);
    CHECK(d->mended);
    CHECK_FALSE(d->forbids_verdict);
    CHECK(d->count == 40);
    CHECK(least_delay(*trace) == 5 * kNsPerUs);
  }
}

TEST_CASE("a GPU's clock that is ahead shows as work that waits although the GPU is idle") {
  for (const double ahead_us : {1'500.0, 20'000.0, 1.5e6}) {
    CAPTURE(ahead_us);
    const auto trace = load_text(clocks(16 + ahead_us, 3));
    const Doubt* const d = doubt(*trace, DoubtKind::clock_offset);
    REQUIRE(d != nullptr);
    CHECK(d->mended);
    CHECK(least_delay(*trace) == 5 * kNsPerUs);
  }
}

namespace {

// Steps of 10 ms that end with a synchronization: five launches 200 us apart, kernels of 1 ms behind each other, and the call
// that waits for them, which returns 4 us after the last.
std::string steps_with_syncs(double ahead_us, const char* call, int steps = 6, double side_us = 0) {
  KinetoText text;
  for (int step = 0; step < steps; ++step) {
    const double at = 5e6 + 10'000 * step;
    for (int i = 0; i < 5; ++i) text.launched(5 * step + i + 1, at + 200 * i, at + 8 + 1'000 * i + ahead_us, 1'000);
    if (side_us > 0) {
      text.launch(1'000 + step, at + 1'200);
      text.slice("kernel", "side", "0", "20", at + 1'210 + ahead_us, side_us,
                 fmt::format(R"("device":0,"stream":20,"correlation":{})", 1'000 + step));
    }
    text.slice("cuda_runtime", call, "100", "1", at + 1'300, 5'012 - 1'300, fmt::format(R"("correlation":{})", 2'000 + step));
  }
  return text.text();
}

}  // namespace

TEST_CASE("a GPU's clock is ahead where synchronizations end before the work that they wait for") {
  for (const char* call : {"cudaDeviceSynchronize", "cudaStreamSynchronize", "hipDeviceSynchronize"})
    for (const double ahead_us : {100.0, 20'000.0, 300'000.0, 2e6}) {
      CAPTURE(call);
      CAPTURE(ahead_us);
      const auto trace = load_text(steps_with_syncs(ahead_us, call));
      const Doubt* const d = doubt(*trace, DoubtKind::clock_offset);
      REQUIRE(d != nullptr);
      CHECK(d->mended);
      CHECK_FALSE(d->forbids_verdict);
      CHECK(d->said.find("6 synchronizations end before the work that they wait for") != std::string::npos);
      CHECK(least_delay(*trace) == 5 * kNsPerUs);
    }
}

TEST_CASE("synchronizations that end after their work, or wait for one stream of two, prove nothing") {
  CHECK(load_text(steps_with_syncs(0, "cudaDeviceSynchronize"))->doubts.empty());
  CHECK(load_text(steps_with_syncs(0, "cudaStreamSynchronize", 6, 6'000))->doubts.empty());
  CHECK(load_text(steps_with_syncs(0, "cudaEventSynchronize", 6, 6'000))->doubts.empty());
  CHECK(doubt(*load_text(steps_with_syncs(0, "cudaDeviceSynchronize", 6, 6'000)), DoubtKind::clock_offset) != nullptr);
}

TEST_CASE("launches that wait in a full queue, or one kernel alone, are no clocks that differ") {
  KinetoText queue;  // the GPU is never idle
  for (int i = 0; i < 40; ++i) queue.launched(i + 1, 5e6 + 10 * i, 5e6 + 2'000 + 100 * i, 100);
  CHECK(doubt(*load_text(queue.text()), DoubtKind::clock_offset) == nullptr);
  KinetoText gaps;  // a queue of 50 ms, which grows and shrinks; between two kernels pass 3 us
  for (int i = 0; i < 80; ++i) gaps.launched(i + 1, 5e6 + 100 * i - (i % 10) * 90, 5e6 + 50'000 + 100 * i, 97);
  CHECK(doubt(*load_text(gaps.text()), DoubtKind::clock_offset) == nullptr);
  CHECK(doubt(*load_text(clocks(16)), DoubtKind::clock_offset) == nullptr);
}

TEST_CASE("clocks that drift are reported and not moved, and leave no verdict") {
  KinetoText text;
  for (int i = 0; i < 64; ++i) text.launched(i + 1, 5e6 + 100 * i, 5e6 + 100 * i - 20.0 * i, 20);
  const auto trace = load_text(text.text());
  const Doubt* const d = doubt(*trace, DoubtKind::clock_offset);
  REQUIRE(d != nullptr);
  CHECK_FALSE(d->mended);
  CHECK(d->forbids_verdict);
}

TEST_CASE("events at time 0, far from all others, are left out and counted") {
  for (const double begin_us : {1e6, 5e6, 4.2e12}) {
    CAPTURE(begin_us);
    KinetoText text;
    for (int i = 0; i < 20; ++i) {
      const bool lost = i % 2 == 1;
      text.launched(i + 1, lost ? 0 : begin_us + 100 * i, lost ? 0 : begin_us + 100 * i + 10, lost ? 0 : 60);
    }
    const auto trace = load_text(text.text());
    const Doubt* const d = doubt(*trace, DoubtKind::missing_times);
    REQUIRE(d != nullptr);
    CHECK(d->count == 20);  // ten launches, ten kernels
    CHECK(d->forbids_verdict);
    CHECK(trace->slice_count() == 20);
    CHECK(trace->gpu.size() == 10);
    CHECK(trace->calls.size() == 10);
    CHECK(trace->report.count(ImportIssue::time_zero) == 20);
    CHECK(trace->span.length() < 3 * kNsPerMs);
  }
}

TEST_CASE("annotations of the GPU around work without a time go with it, however long they are") {
  KinetoText text;
  for (int i = 0; i < 20; ++i) {
    const bool lost = i < 5;
    text.launched(i + 1, 5e9 + 100 * i, lost ? 0 : 5e9 + 100 * i + 10, lost ? 0 : 60);
  }
  text.slice("gpu_user_annotation", "train", "0", "7", 0, 5e9 + 100 * 19 + 70);
  text.slice("gpu_user_annotation", "load", "0", "7", 0, 0);
  const auto trace = load_text(text.text());
  const Doubt* const d = doubt(*trace, DoubtKind::missing_times);
  REQUIRE(d != nullptr);
  CHECK(d->count == 7);
  CHECK(trace->gpu.size() == 15);
  CHECK(trace->span.length() < 3 * kNsPerMs);
  CHECK(doubt(*trace, DoubtKind::clock_offset) == nullptr);
}

TEST_CASE("a single slice at 0 is the first of a file that counts from there, whenever the second begins") {
  const auto file = [](double second_us, int at_zero) {
    KinetoText text;
    for (int i = 0; i < at_zero; ++i) text.slice("kernel", "first", "0", "7", 0, 5, R"("device":0,"stream":7)");
    for (int i = 0; i < 20; ++i) text.launched(100 + i, second_us + 100 * i, second_us + 100 * i + 10, 60);
    return load_text(text.text());
  };
  CHECK(doubt(*file(180'000, 1), DoubtKind::missing_times) == nullptr);
  CHECK(file(180'000, 1)->gpu.size() == 21);
  CHECK(doubt(*file(180'000, 2), DoubtKind::missing_times) != nullptr);
  CHECK(doubt(*file(4.2e12, 1), DoubtKind::missing_times) != nullptr);  // a time of day
}

TEST_CASE("a time of -1 is as missing as 0") {
  KinetoText text;
  for (int i = 0; i < 20; ++i) {
    const bool lost = i % 2 == 1;
    text.launched(i + 1, 5e6 + 100 * i, lost ? -1 : 5e6 + 100 * i + 10, 60);
  }
  const auto trace = load_text(text.text());
  REQUIRE(trace->doubts.size() == 1);
  CHECK(trace->doubts[0].kind == DoubtKind::missing_times);
  CHECK(trace->doubts[0].said == "10 events have no time (ts 0 or -1): left out, 10 of 20 GPU operations among them.");
  CHECK(trace->gpu.size() == 10);
}

TEST_CASE("a recording that begins at 0 has no missing times") {
  KinetoText text;
  for (int i = 0; i < 20; ++i) text.launched(i + 1, 100 * i, 100 * i + 10, 60);
  const auto trace = load_text(text.text());
  CHECK(trace->doubts.empty());
  CHECK(trace->slice_count() == 40);
}

TEST_CASE("work that lasts past whole other work of its stream is cut off where the next begins") {
  struct Case {
    const char* where;
    std::vector<int> wrong;
    double dur_us;
  };
  for (const Case& c : {Case{"in the middle", {7, 19}, 3.4e6}, Case{"at the first", {0}, 500}, Case{"at the last", {39}, 5e6},
                        Case{"two in a row", {10, 11}, 1e5}, Case{"just past two others", {5}, 250}}) {
    CAPTURE(c.where);
    KinetoText text;
    for (int i = 0; i < 40; ++i) {
      const bool wrong = std::find(c.wrong.begin(), c.wrong.end(), i) != c.wrong.end();
      text.launched(i + 1, 5e6 + 100 * i, 5e6 + 100 * i + 10, wrong ? c.dur_us : 60);
    }
    const auto trace = load_text(text.text());
    const Doubt* const d = doubt(*trace, DoubtKind::impossible_durations);
    REQUIRE(d != nullptr);
    CHECK(d->count == c.wrong.size());
    CHECK(trace->clipped.size() == c.wrong.size());
    for (const SliceId s : work_of(*trace)) CHECK(trace->duration(s) <= 100 * kNsPerUs);
    CHECK(trace->span.length() < 5 * kNsPerMs);
  }
}

TEST_CASE("slices without a readable duration are counted, and many of them leave no verdict") {
  KinetoText text;
  for (int i = 0; i < 20; ++i) text.launched(i + 1, 5e6 + 100 * i, 5e6 + 100 * i + 10, i < 4 ? -3 : 60);
  const auto trace = load_text(text.text());
  const Doubt* const d = doubt(*trace, DoubtKind::impossible_durations);
  REQUIRE(d != nullptr);
  CHECK(d->count == 4);
  CHECK_FALSE(d->mended);
  CHECK(d->forbids_verdict);
}

TEST_CASE("kernels that overlap the next one a little, as with programmatic launches, stay as they are") {
  KinetoText text;
  for (int i = 0; i < 40; ++i) text.launched(i + 1, 5e6 + 100 * i, 5e6 + 100 * i + 10, 130);
  const auto trace = load_text(text.text());
  CHECK(trace->doubts.empty());
  CHECK(trace->clipped.empty());
}

TEST_CASE("streams that share a lane, as ONNX Runtime has them, are each for themselves") {
  KinetoText text;
  for (int i = 0; i < 10; ++i) {
    text.slice("kernel", "conv", "0", "0", 5e6 + 1000 * i, 900, R"json("device":0,"stream":7)json");
    text.slice("kernel", "relu", "0", "0", 5e6 + 1000 * i + 200, 100, R"json("device":0,"stream":13)json");
  }
  const auto trace = load_text(text.text());
  CHECK(trace->clipped.empty());
}

TEST_CASE("nodes of a graph may run side by side on one stream") {
  KinetoText text;
  text.launch(1, 5e6);
  const std::string args = R"("device":0,"stream":7,"correlation":1,"graph id":4)";
  text.slice("kernel", "long", "0", "7", 5e6 + 10, 500, args);
  for (int i = 0; i < 5; ++i) text.slice("kernel", "short", "0", "7", 5e6 + 20 + 50 * i, 20, args);
  CHECK(load_text(text.text())->doubts.empty());
}

namespace {

// Two ranks of three launches a step, their kernels of 40 and 80 us; ids and names as a tool that merges files writes them.
std::string merged(std::vector<std::string> hosts, std::vector<std::string> gpus, int second_correlation) {
  KinetoText text;
  for (std::size_t r = 0; r < 2; ++r)
    for (int i = 0; i < 9; ++i) {
      const int correlation = (r == 0 ? 1 : second_correlation) + i;
      const double at = 5e6 + 400.0 * static_cast<double>(r) + 300 * i;
      text.launched(correlation, at, at + 10, r == 0 ? 40 : 80, "gemm", hosts[r], gpus[r]);
      text.arrow('s', correlation, hosts[r], "1", at).arrow('f', correlation, gpus[r], "7", at + 10);
    }
  return text.text();
}

}  // namespace

TEST_CASE("ranks in one file are separated, whatever tool put them there and whether they share ids or not") {
  struct Case {
    const char* tool;
    std::vector<std::string> hosts, gpus;
  };
  for (const Case& c :
       {Case{"a label in brackets", {R"("[TP00] 500")", R"("[TP01] 501")"}, {R"("[TP00] 0")", R"("[TP01] 0")"}},
        Case{"two labels", {R"("[DP0 TP0] 500")", R"("[DP0 TP1] 501")"}, {R"("[DP0 TP0] 0")", R"("[DP0 TP1] 1")"}},
        Case{"a prefix", {R"("rank0_500")", R"("rank1_500")"}, {R"("rank0_0")", R"("rank1_0")"}},
        Case{"a suffix", {R"("500_rank0")", R"("500_rank1")"}, {R"("0_rank0")", R"("0_rank1")"}},
        Case{"a suffix in brackets", {R"("500 [Rank 0]")", R"("500 [Rank 1]")"}, {R"("0 [Rank 0]")", R"("0 [Rank 1]")"}},
        Case{"a suffix behind a sign", {R"("500@0")", R"("500@1")"}, {R"("0@0")", R"("0@1")"}},
        Case{"offsets", {"500", "100500"}, {"0", "100000"}}, Case{"processes of one machine", {"500", "501"}, {"0", "1"}}})
    for (const int second : {1, 1000}) {
      CAPTURE(c.tool);
      CAPTURE(second);
      const auto trace = load_text(merged(c.hosts, c.gpus, second));
      const Doubt* const d = doubt(*trace, DoubtKind::several_ranks);
      REQUIRE(d != nullptr);
      CHECK(d->count == 2);
      for (const GpuRow& row : trace->gpu) {
        CHECK(row.device == (trace->duration(row.slice) == 40 * kNsPerUs ? 0 : 1));
        const auto call = std::find_if(trace->calls.begin(), trace->calls.end(),
                                       [&](const Call& k) { return k.correlation == row.correlation; });
        REQUIRE(call != trace->calls.end());
        CHECK(trace->begin(row.slice) - trace->begin(call->slice) == 10 * kNsPerUs);
        CHECK(trace->processes[trace->lane(call->slice).process.index()].rank == row.device);
      }
      for (const Flow& f : trace->flows) CHECK(trace->begin(f.to) - trace->begin(f.from) == 10 * kNsPerUs);
    }
}

TEST_CASE(
    "ranks of one file that begin within a launch's delay of each other are known by their place in it, or by their order") {
  for (const bool mixed : {false, true})
    for (const double apart_us : {0.0, 3.25, 8.0}) {
      CAPTURE(mixed);
      CAPTURE(apart_us);
      KinetoText text;
      const auto launched = [&](int r, int i) {
        const double at = 5e6 + apart_us * r + 300 * i;
        text.launched(i + 1, at, at + 12, r == 0 ? 40 : 80, "gemm", r == 0 ? "5000" : "5007", r == 0 ? "0" : "1");
      };
      for (int a = 0; a < (mixed ? 9 : 2); ++a)
        for (int b = 0; b < (mixed ? 2 : 9); ++b) launched(mixed ? b : a, mixed ? a : b);
      const auto trace = load_text(text.text());
      const Doubt* const d = doubt(*trace, DoubtKind::several_ranks);
      REQUIRE(d != nullptr);
      CHECK(d->count == 2);
      for (const GpuRow& row : trace->gpu)
        for (const Call& call : trace->calls)
          if (call.correlation == row.correlation)
            CHECK(trace->processes[trace->lane(call.slice).process.index()].key == (row.device == 0 ? "5000" : "5007"));
    }
}

TEST_CASE("one process with two GPUs is one rank") {
  KinetoText text;
  for (int i = 0; i < 9; ++i)
    text.launched(i + 1, 5e6 + 100 * i, 5e6 + 100 * i + 10, 40, "gemm", "500", i % 2 == 0 ? "0" : "1");
  CHECK(load_text(text.text())->doubts.empty());
}

TEST_CASE("recordings that follow each other are several; those of ranks, at one time, are one") {
  for (const int windows : {1, 2, 3}) {
    KinetoText text;
    for (int w = 0; w < windows; ++w) {
      text.slice("Trace", "PyTorch Profiler (0)", "\"Spans\"", "\"PyTorch Profiler\"", 5e6 + 3e7 * w, 3000);
      text.slice("Trace", "PyTorch Profiler (0)", "\"[TP1] Spans\"", "\"PyTorch Profiler\"", 5e6 + 3e7 * w + 100, 2950);
      for (int i = 0; i < 10; ++i) text.launched(10 * w + i + 1, 5e6 + 3e7 * w + 100 * i, 5e6 + 3e7 * w + 100 * i + 10, 60);
    }
    const auto trace = load_text(text.text());
    const Doubt* const d = doubt(*trace, DoubtKind::several_recordings);
    CHECK((d != nullptr) == (windows > 1));
    if (d != nullptr) CHECK(d->count == static_cast<std::uint64_t>(windows));
    CHECK(trace->recordings.size() == (windows > 1 ? static_cast<std::size_t>(windows) : 0U));
  }
}

TEST_CASE("steps whose numbers begin anew, with nothing recorded between, are of another recording") {
  const auto recorded = [](int second_number, bool something_between) {
    KinetoText text;
    for (int w = 0; w < 2; ++w)
      for (int i = 0; i < 3; ++i) {
        const double at = 5e6 + 3e7 * w + 1000 * i;
        text.slice("user_annotation", fmt::format("ProfilerStep#{}", i + (w == 0 ? 5 : second_number)), "100", "1", at, 990);
        text.launched(10 * w + i + 1, at + 10, at + 20, 60);
      }
    if (something_between) text.slice("cpu_op", "aten::add", "100", "2", 5e6 + 500, 3e7);
    return load_text(text.text());
  };
  const auto anew = recorded(5, false);
  const Doubt* const d = doubt(*anew, DoubtKind::several_recordings);
  REQUIRE(d != nullptr);
  CHECK(d->count == 2);
  REQUIRE(anew->recordings.size() == 2);
  CHECK(anew->recordings[0] == Span{anew->span.begin, anew->span.begin + 2'990 * kNsPerUs});
  CHECK(anew->recordings[1] == Span{anew->span.end - 2'990 * kNsPerUs, anew->span.end});
  // A step ends where the next begins: 30 s later it is of another recording, whatever its number.
  CHECK(doubt(*recorded(8, false), DoubtKind::several_recordings) != nullptr);
  CHECK(doubt(*recorded(8, true), DoubtKind::several_recordings) == nullptr);
  CHECK(doubt(*recorded(5, true), DoubtKind::several_recordings) == nullptr);
}

TEST_CASE("a chain of arrows counts each of its parts as bound") {
  KinetoText text;
  for (int i = 0; i < 3; ++i) text.slice("c", "a", "1", std::to_string(i + 1), 20.0 * i, 10);
  text.arrow('s', 7, "1", "1", 1).arrow('t', 7, "1", "2", 21).arrow('f', 7, "1", "3", 41);
  const auto trace = load_text(text.text());
  CHECK(trace->flows.size() == 2);
  CHECK(trace->flow_counts.bound == 2);
}

TEST_CASE("GPU work that Nsight Systems itself misses is a doubt, and leaves no verdict where it is sure") {
  const auto reported = [](std::string_view reports) {
    KinetoText text;
    for (int i = 0; i < 20; ++i) text.launched(i + 1, 5e6 + 100 * i, 5e6 + 100 * i + 10, 60);
    return load_text(text.text(fmt::format(R"("recorder":"nsight_systems","nsight_systems_diagnostics":[{}],)", reports)));
  };
  const auto maybe =
      reported(R"("Not all CUDA events might have been collected.","Not all NVTX events might have been collected.")");
  REQUIRE(maybe->doubts.size() == 1);
  CHECK(maybe->doubts[0].kind == DoubtKind::lost_kernels);
  CHECK(maybe->doubts[0].count == 1);
  CHECK(maybe->doubts[0].said == "Nsight Systems warns that GPU work may be missing: a gap may be work that was not recorded.");
  CHECK_FALSE(maybe->doubts[0].forbids_verdict);
  const auto lost = reported(R"("1,204 CUPTI records were dropped.","CUDA: events lost","Not all CUDA events.")");
  REQUIRE(lost->doubts.size() == 1);
  CHECK(lost->doubts[0].count == 3);
  CHECK(lost->doubts[0].forbids_verdict);
  CHECK(reported(R"("CUDA device 0: Unified Memory cannot be traced.","No CUDA events collected.","30 were discarded.")")
            ->doubts.empty());
}

TEST_CASE("of few kernels all must begin before their launch for the clocks to differ") {
  const auto few = [](int early) {
    KinetoText text;
    for (int i = 0; i < 6; ++i) text.launched(i + 1, 5e6 + 100 * i, 5e6 + 100 * i + (i < early ? -1e6 : 10), 60);
    return load_text(text.text());
  };
  REQUIRE(doubt(*few(6), DoubtKind::clock_offset) != nullptr);
  CHECK(doubt(*few(6), DoubtKind::clock_offset)->mended);
  CHECK(doubt(*few(1), DoubtKind::clock_offset) == nullptr);
}

TEST_CASE("durations that cannot be read, or of 0, leave no verdict where they are many of the GPU's work") {
  const auto durations = [](int broken, double dur_us) {
    KinetoText text;
    for (int i = 0; i < 40; ++i) {
      const double at = 5e6 + 100 * i;
      for (int o = 0; o < 4; ++o) text.slice("cpu_op", "aten::mm", "100", "1", at + 20 * o, 10);
      text.launched(i + 1, at + 85, at + 90, i < broken ? dur_us : 60);
    }
    return load_text(text.text());
  };
  const auto negative = durations(8, -5);  // of 240 events
  REQUIRE(doubt(*negative, DoubtKind::impossible_durations) != nullptr);
  CHECK(doubt(*negative, DoubtKind::impossible_durations)->forbids_verdict);
  CHECK_FALSE(doubt(*durations(1, -5), DoubtKind::impossible_durations)->forbids_verdict);
  const auto zero = durations(16, 0);
  REQUIRE(doubt(*zero, DoubtKind::impossible_durations) != nullptr);
  CHECK(doubt(*zero, DoubtKind::impossible_durations)->said == "16 of 40 GPU operations last 0 ns, which is impossible.");
  CHECK(doubt(*durations(4, 0), DoubtKind::impossible_durations) == nullptr);  // rounded
}

TEST_CASE("many slices that begin and end at 0 have no time, whenever the others begin") {
  const auto at_zero = [](int lost) {
    KinetoText text;
    for (int i = 0; i < 40; ++i) {
      const bool is_lost = i < lost;
      text.slice("cpu_op", "aten::mm", "100", "1", is_lost ? 0 : 5'000 + 100 * i, is_lost ? 0 : 50);
    }
    return load_text(text.text());
  };
  REQUIRE(doubt(*at_zero(20), DoubtKind::missing_times) != nullptr);
  CHECK(doubt(*at_zero(20), DoubtKind::missing_times)->count == 20);
  CHECK(doubt(*at_zero(1), DoubtKind::missing_times) == nullptr);
}

TEST_CASE("correlation ids that begin anew with each recording join work with its own launch") {
  KinetoText text;
  for (const double begin : {5e6, 65e6}) {
    text.slice("Trace", "PyTorch Profiler (0)", "\"Spans\"", "\"PyTorch Profiler\"", begin, 4'000);
    for (int i = 0; i < 20; ++i) text.launched(i + 1, begin + 100 * i, begin + 100 * i + 10, 60);
  }
  const auto trace = load_text(text.text());
  REQUIRE(trace->recordings.size() == 2);
  std::size_t joined = 0;
  for (const GpuRow& row : trace->gpu)
    for (const Call& call : trace->calls)
      if (call.correlation == row.correlation) {
        ++joined;
        CHECK(trace->begin(row.slice) - trace->begin(call.slice) == 10 * kNsPerUs);
      }
  CHECK(joined == 40);
}

TEST_CASE("times that are no numbers, or too large for any, are counted and move nothing") {
  for (const char* odd : {"NaN", "Infinity", "-Infinity", "\"NaN\"", "1e999", "-1e999", "\"inf\"", "null"}) {
    CAPTURE(std::string(odd));
    const auto with_odd = [&](bool is_time) {
      KinetoText text;
      for (int i = 0; i < 400; ++i) text.launched(i + 1, 5e6 + 100 * i, 5e6 + 100 * i + 10, 60);
      const std::string event = fmt::format(
          R"({{"ph":"X","cat":"kernel","name":"odd","pid":0,"tid":7,"ts":{},"dur":{},"args":{{"device":0,"stream":7}}}})",
          is_time ? odd : "5000075.0", is_time ? "10" : odd);
      std::string all = text.text();
      return load_text(all.insert(all.find('[') + 1, event + ","));
    };
    const auto no_time = with_odd(true), no_duration = with_odd(false);
    const Doubt* const missing = doubt(*no_time, DoubtKind::missing_times);
    REQUIRE(missing != nullptr);
    CHECK(missing->count == 1);
    CHECK_FALSE(missing->forbids_verdict);
    CHECK(no_time->slice_count() == 800);
    CHECK(no_time->span.length() < 50 * kNsPerMs);
    const Doubt* const unread = doubt(*no_duration, DoubtKind::impossible_durations);
    REQUIRE(unread != nullptr);
    CHECK(unread->count == 1);
    CHECK(no_duration->slice_count() == 801);
    CHECK(no_duration->span.length() < 50 * kNsPerMs);
  }
}

TEST_CASE("minutes in which no lane has anything are between two recordings; shorter waits and lulls of a long one are not") {
  const auto recorded = [](std::vector<double> begins_s, double length_s, std::string_view in_between = "") {
    KinetoText text;
    int correlation = 0;
    for (const double begin : begins_s)
      for (int i = 0; i < 20; ++i) {
        const double at = 1e6 * (begin + length_s * i / 20);
        text.launched(++correlation, at, at + 10, 60);
      }
    std::string all = text.text();
    return load_text(all.insert(all.find('[') + 1, in_between));
  };
  const auto three = recorded({10, 300, 1000}, 2);
  const Doubt* const d = doubt(*three, DoubtKind::several_recordings);
  REQUIRE(d != nullptr);
  CHECK(d->count == 3);
  REQUIRE(three->recordings.size() == 3);
  CHECK(three->recordings[0].begin == three->span.begin);
  CHECK(three->recordings[1].begin == 300 * kNsPerS);
  CHECK(three->recordings[2].end == three->span.end);
  CHECK(doubt(*recorded({10, 50}, 2), DoubtKind::several_recordings) == nullptr);
  CHECK(doubt(*recorded({10, 1000}, 900), DoubtKind::several_recordings) == nullptr);
  CHECK(doubt(*recorded({10, 300}, 2, R"({"ph":"X","cat":"cpu_op","name":"wait","pid":1,"tid":1,"ts":11e6,"dur":299e6},)"),
              DoubtKind::several_recordings) == nullptr);
  std::string counters;
  for (int i = 0; i < 300; ++i)
    counters += fmt::format(R"({{"ph":"C","name":"power","pid":1,"ts":{}e6,"args":{{"W":300}}}},)", 10 + i);
  CHECK(doubt(*recorded({10, 300}, 2, counters), DoubtKind::several_recordings) == nullptr);
}

TEST_CASE("several recordings without steps or a profiler's spans are not one long pause") {
  KinetoText text;
  for (int w = 0; w < 2; ++w)
    for (int i = 0; i < 20; ++i) text.launched(20 * w + i + 1, 5e6 + 3e8 * w + 100 * i, 5e6 + 3e8 * w + 100 * i + 10, 60);
  const auto trace = load_text(text.text());
  REQUIRE(trace->recordings.size() == 2);
  CHECK(trace->recordings[1].begin - trace->recordings[0].end > 290 * kNsPerS);
}

TEST_CASE("the last work of several streams that lasts for ever is cut off, each of them") {
  for (const int streams : {1, 2, 3}) {
    CAPTURE(streams);
    KinetoText text;
    for (int i = 0; i < 20; ++i) text.launched(i + 1, 5e6 + 100 * i, 5e6 + 100 * i + 10, 60);
    for (int s = 0; s < streams; ++s) {
      text.launch(100 + s, 5e6 + 2000 + s);
      text.slice("kernel", "last", "0", std::to_string(20 + s), 5e6 + 2010 + s, 1.2e9 + 1e7 * s,
                 fmt::format(R"("device":0,"stream":{},"correlation":{})", 20 + s, 100 + s));
    }
    const auto trace = load_text(text.text());
    const Doubt* const d = doubt(*trace, DoubtKind::impossible_durations);
    REQUIRE(d != nullptr);
    CHECK(d->count == static_cast<std::uint64_t>(streams));
    CHECK(trace->span.length() < 5 * kNsPerMs);
  }
}

TEST_CASE("ranks whose clocks are far apart are no recordings one after the other, unless each has several") {
  for (const int windows : {1, 2}) {
    KinetoText text;
    for (int w = 0; w < windows; ++w)
      for (int r = 0; r < 2; ++r) {
        const double begin = 5e6 + (windows == 1 ? 2e6 : 100.0) * r + 4e6 * w;
        text.slice("Trace", "PyTorch Profiler (0)", "\"Spans\"", "\"PyTorch Profiler\"", begin, 3000);
        for (int i = 0; i < 9; ++i)
          text.launched(1000 * w + 100 * r + i + 1, begin + 300 * i, begin + 300 * i + 10, 280, "gemm",
                        r == 0 ? "\"5000_rank0\"" : "\"5001_rank1\"", r == 0 ? "\"0_rank0\"" : "\"0_rank1\"");
      }
    const auto trace = load_text(text.text());
    CHECK(doubt(*trace, DoubtKind::several_ranks) != nullptr);
    CHECK((doubt(*trace, DoubtKind::several_recordings) != nullptr) == (windows == 2));
    CHECK(trace->recordings.size() == (windows == 2 ? 2U : 0U));
  }
}

TEST_CASE("the end of an arrow that is in no slice belongs to the next one, unless it asks for the one around it") {
  for (const char* bp : {"", R"(,"bp":"e")"}) {
    std::string text = "[";
    for (int i = 0; i < 5; ++i)
      text += fmt::format(R"({{"ph":"X","pid":1,"tid":1,"ts":{0},"dur":5,"name":"from"}},
{{"ph":"X","pid":1,"tid":2,"ts":{1},"dur":5,"name":"to {2}"}},
{{"ph":"s","pid":1,"tid":1,"ts":{3},"id":{2},"cat":"c","name":"n"}},
{{"ph":"f","pid":1,"tid":2,"ts":{4},"id":{2},"cat":"c","name":"n"{5}}},)",
                          100 * i, 100 * i + 20, i, 100 * i + 2, 100 * i + 15, bp);
    text.back() = ']';
    const auto trace = load_text(text);
    CHECK(trace->flow_counts.bound == (*bp == 0 ? 5U : 0U));
    for (const Flow& flow : trace->flows) {
      CHECK(trace->name(flow.from) == "from");
      CHECK(trace->begin(flow.to) - trace->begin(flow.from) == 20 * kNsPerUs);
    }
  }
}
