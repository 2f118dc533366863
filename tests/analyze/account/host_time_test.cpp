// Files whose slices lie thousands deep cost HostTime no more than n log n steps. What it says is compared with a naive one in
// time_account_test.cpp.
#include <random>

#include <doctest/doctest.h>

#include "core/analyze/account/host_sums.h"
#include "core/analyze/account/host_time.h"
#include "core/base/counted_steps.h"
#include "tests/support/hand_trace.h"
#include "tests/support/load_text.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

// n operators in each other, then n a while apart, then n that overlap, each in a row of its own.
std::shared_ptr<Trace> nested_apart_and_overlapping(Ns n) {
  std::vector<std::vector<HandSlice>> rows;
  for (Ns i = 0; i < n; ++i) rows.push_back({{"b", i, 2 * n - i}});
  for (Ns i = 0; i < n; ++i) rows[0].push_back({"a", 2 * n + 3 * i, 2 * n + 3 * i + 1});
  for (Ns i = 0; i < n; ++i) rows[static_cast<std::size_t>(i)].push_back({"b", 5 * n + i, 6 * n + i});
  return hand_trace({{"p", "t", LaneKind::cpu_thread, rows}});
}

}  // namespace

TEST_CASE("times are the sums of pieces, in whatever order it is asked and however slices nest or overlap") {
  constexpr std::pair<const char*, const char*> kKinds[] = {{"cpu_op", "aten::a"},
                                                            {"cpu_op", "aten::b"},
                                                            {"python_function", "f.py(1): f"},
                                                            {"python_function", "g.py(2): g"},
                                                            {"user_annotation", "part"},
                                                            {"cuda_runtime", "cudaLaunchKernel"},
                                                            {"cuda_runtime", "cudaMalloc"},
                                                            {"cuda_runtime", "cudaStreamSynchronize"},
                                                            {"python_function", "c.py(3): compile_fx"},
                                                            {"user_annotation", "enumerate(DataLoader)#X.__next__"},
                                                            {"gpu_user_annotation", "no host"}};
  std::mt19937 random(7);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 400; ++round) {
    std::string list;
    const int kinds = round % 2 == 0 ? 4 : 11, grid = 1 + below(8);  // times on a grid coincide often
    for (int i = 0; i < 70; ++i) {
      const auto& [cat, name] = kKinds[below(kinds)];
      const int begin = below(400) / grid * grid, length = below(1 << below(9)) / grid * grid;
      list += (i == 0 ? "" : ",") +
              slice(name, std::to_string(begin), std::to_string(length), "", cat, std::to_string(1 + below(2)));
    }
    const auto trace = load_text(events(list));
    const HostTime host(*trace);
    HostReader far(host, true), near(host);
    for (int i = 0; i < 40; ++i) {
      const Ns begin = below(420) * kNsPerUs;
      const Span span{begin, begin + (1 + below(i % 4 == 0 ? 300 : 20)) * kNsPerUs};
      const LaneId lane =
          below(3) == 0 ? LaneId{} : LaneId(static_cast<std::size_t>(below(static_cast<int>(trace->lanes.size()))));
      CauseTimes sums{}, by_far{}, by_near{};
      std::vector<HostPiece> pieces;
      HostReader(host).read(lane, span, pieces);
      for (const HostPiece& piece : pieces) sums[index_of(piece.cause)] += piece.span.length();
      far.add_times(lane, span, by_far);
      near.add_times(lane, span, by_near);
      CAPTURE(list);
      CAPTURE(span.begin);
      CAPTURE(span.end);
      REQUIRE(by_far == sums);
      REQUIRE(by_near == sums);
    }
  }
}

TEST_CASE("what covers a lane, and questions in order of time by many readers, take steps in proportion to n log n") {
  const auto steps = [](Ns n, std::size_t readers) {
    const auto trace = nested_apart_and_overlapping(n);
    trace->lanes[0].overlapping = static_cast<std::uint32_t>(n);
    const std::uint64_t before = counted_steps;
    const HostTime host(*trace);
    for (std::size_t r = 0; r < readers; ++r) {
      HostReader reader(host, true);
      CauseTimes times{};
      for (Ns i = 0; i < 7 * n; i += 5) reader.add_times(LaneId(0u), {i, i + 4}, times);
      CHECK(times[index_of(IdleCause::op)] > 3 * n);
    }
    return counted_steps - before;
  };
  const std::uint64_t few = steps(1'000, 40);
  CHECK(few > 2'000);
  CHECK(steps(4'000, 40) < 6 * few);
}

TEST_CASE(
    "stretches that lie over each other, as the gaps of many devices do, take n log n steps, and add up to what is read") {
  const auto steps = [](Ns n, Ns length) {
    std::vector<HandSlice> often, seldom;
    for (Ns i = 0; i < n; ++i) often.push_back({"a", 4 * i, 4 * i + length});
    for (Ns i = 0; i < n / 2; ++i) seldom.push_back({"b", 8 * i + 2, 8 * i + 5});
    const auto trace = hand_trace({{"p", "t", LaneKind::cpu_thread, {often}}, {"p", "u", LaneKind::cpu_thread, {seldom}}});
    const HostTime host(*trace);
    const std::uint64_t before = counted_steps;
    std::uint64_t read = 0;
    {
      HostSums sums(host, {0, 4 * n}, trace->slice_count());
      for (Ns i = 0; i < n; ++i)
        for (const LaneId lane : {LaneId(0u), LaneId(1u), LaneId{}}) {
          const Span span{i, 4 * n - i};
          CauseTimes times{};
          sums.add_times(lane, span, times);
          if (i % (n / 8) != 0) continue;
          const std::uint64_t until = counted_steps;
          CauseTimes as_read{};
          HostReader(host).add_times(lane, span, as_read);
          read += counted_steps - until;
          CHECK(times == as_read);
        }
    }
    return counted_steps - before - read;
  };
  for (const Ns length : {0, 1}) {
    const std::uint64_t few = steps(4'000, length);
    CHECK(few > 4'000);
    CHECK(steps(16'000, length) < 6 * few);
  }
}
