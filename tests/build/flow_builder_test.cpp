#include "core/build/flow_builder.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include "core/base/counted_steps.h"
#include "tests/support/load_text.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

struct SomeSlices {
  std::vector<Ns> begin, end;
  std::vector<std::uint8_t> kinds;
  std::vector<std::uint32_t> sorted;
};

SomeSlices some_slices(std::mt19937& random, std::size_t n) {
  SomeSlices s;
  for (std::size_t i = 0; i < n; ++i) {
    s.begin.push_back(static_cast<Ns>(random() % 60));
    s.end.push_back(s.begin.back() + static_cast<Ns>(random() % 9));
    s.kinds.push_back(static_cast<std::uint8_t>(std::array{Kind::op, Kind::runtime, Kind::python}[random() % 3]));
  }
  s.sorted.resize(n);
  std::iota(s.sorted.begin(), s.sorted.end(), 0u);
  std::sort(s.sorted.begin(), s.sorted.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(s.begin[a], -s.end[a], a) < std::tuple(s.begin[b], -s.end[b], b);
  });
  return s;
}

// All slices looked at.
std::uint32_t naive_slice_at(const SomeSlices& s, Ns time, bool wants_op) {
  int best = -1;
  std::uint32_t found = kUnbound;
  std::uint32_t around = kUnbound;
  for (const std::uint32_t i : s.sorted) {
    if (s.begin[i] < time && s.end[i] > time) around = i;
    if (s.begin[i] != time) continue;
    const auto kind = static_cast<Kind>(s.kinds[i]);
    const int p = wants_op ? (kind == Kind::op ? 2 : 0) : kind == Kind::runtime ? 2 : kind == Kind::op ? 1 : 0;
    if (p >= best) best = p, found = i;
  }
  return best >= 0 ? found : around;
}

}  // namespace

TEST_CASE("a flow finds its slice whatever was asked for before it") {
  std::mt19937 random(5);
  for (const std::size_t n : {0u, 1u, 2u, 7u, 40u}) {
    for (int round = 0; round < 50; ++round) {
      const SomeSlices s = some_slices(random, n);
      FlowBinder binder(s.sorted, s.begin, s.end, s.kinds);
      for (int i = 0; i < 60; ++i) {
        const Ns time = static_cast<Ns>(random() % 80) - 8;
        const bool wants_op = random() % 2 == 0;
        REQUIRE(binder.slice_at(time, wants_op) == naive_slice_at(s, time, wants_op));
      }
    }
  }
}

TEST_CASE("flows of equal wide ids are joined, those of different ones are not") {
  const auto flow = [](const char* phase, const char* id, const char* ts) {
    return std::string(R"(, {"ph": ")") + phase + R"(", "cat": "ac2g", "name": "ac2g", "id": )" + id +
           R"(, "pid": 7, "tid": 1, "ts": )" + ts + "}";
  };
  std::string all;
  for (int i = 0; i < 6; ++i) all += (i > 0 ? ", " : "") + slice("op", std::to_string(i * 10), "5");
  // Ids of 31, 32 and 64 bits and texts; their ends come in another order.
  all += flow("s", "2147483647", "0") + flow("s", "2147483648", "10") + flow("s", "18446744073709551615", "20");
  all += flow("f", "18446744073709551615", "30") + flow("f", "2147483648", "40") + flow("f", "2147483647", "50");
  all += flow("s", "\"a text\"", "0") + flow("s", "\"another\"", "10") + flow("f", "\"another\"", "20") +
         flow("f", "\"a third\"", "30");
  const auto t = load_text(events(all));
  std::vector<std::pair<std::uint32_t, std::uint32_t>> joined;
  for (const Flow& f : t->flows) joined.emplace_back(f.from.value, f.to.value);
  CHECK(joined == std::vector<std::pair<std::uint32_t, std::uint32_t>>{{0, 5}, {1, 2}, {1, 4}, {2, 3}});
  CHECK(t->flow_counts.unbound_starts == 1);
  CHECK(t->flow_counts.unbound_ends == 1);
}

TEST_CASE("what is wider than most comes out of a load as it went in") {
  const std::string wide = R"(, "args": {"External id": 9223372036854775807, "Sequence number": 4294967296})";
  const auto t =
      load_text(events(slice("first", "-9000000000.5", "1", wide) + ", " + slice("long", "0", "9000000.001", wide) + R"(,
      {"ph": "i", "s": "t", "name": "[memory]", "pid": 7, "tid": 1, "ts": -3,
       "args": {"Device Type": 1, "Device Id": 0, "Addr": 18446744073709551615, "Bytes": -150000000001, "Total Allocated": 150000000512, "Total Reserved": 7}})"));
  REQUIRE(t->slice_count() == 2);
  CHECK(t->begin(SliceId(0u)) == -9'000'000'000'500);
  CHECK(t->duration(SliceId(1u)) == 9'000'000'001);
  CHECK(t->slices.external_id[0] == 9223372036854775807u);
  REQUIRE(t->ops.size() == 2);
  CHECK(t->ops[1].sequence == 4294967296);
  REQUIRE(t->memory.size() == 1);
  CHECK(t->memory[0].time == -3000);
  CHECK(t->memory[0].address == 18446744073709551615u);
  CHECK(t->memory[0].bytes == -150'000'000'001);
  CHECK(t->memory[0].total_allocated == 150'000'000'512);
  CHECK(t->memory[0].total_reserved == 7);
}

namespace {

std::uint64_t steps_to_bind(const SomeSlices& s, const std::vector<Ns>& times) {
  const std::uint64_t before = counted_steps;
  {
    FlowBinder binder(s.sorted, s.begin, s.end, s.kinds);
    for (const Ns t : times) binder.slice_at(t, t % 2 == 0);
  }
  return counted_steps - before;
}

}  // namespace

TEST_CASE("a flow finds the slice around it behind any number of slices that have ended") {
  SomeSlices s;
  const auto add = [&](Ns begin, Ns end) {
    s.sorted.push_back(static_cast<std::uint32_t>(s.begin.size()));
    s.begin.push_back(begin);
    s.end.push_back(end);
    s.kinds.push_back(static_cast<std::uint8_t>(Kind::op));
  };
  add(0, 1'000'000);
  add(1, 900'000);
  for (Ns i = 0; i < 5000; ++i) add(10 * i + 10, 10 * i + 15);
  FlowBinder binder(s.sorted, s.begin, s.end, s.kinds);
  CHECK(binder.slice_at(700'000, true) == 1);
  CHECK(binder.slice_at(899'999, true) == 1);
  CHECK(binder.slice_at(900'000, true) == 0);
  CHECK(binder.slice_at(1'000'000, true) == kUnbound);
  CHECK(binder.slice_at(9, true) == 1);
}

TEST_CASE("flows in crowds of slices find theirs as if all had been looked at") {
  std::mt19937 random(9);
  for (int round = 0; round < 20; ++round) {
    SomeSlices s = some_slices(random, 1200);
    for (std::size_t i = 0; i < s.end.size(); i += 1 + random() % 300) s.end[i] += static_cast<Ns>(random() % 70);
    std::sort(s.sorted.begin(), s.sorted.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::tuple(s.begin[a], -s.end[a], a) < std::tuple(s.begin[b], -s.end[b], b);
    });
    FlowBinder binder(s.sorted, s.begin, s.end, s.kinds);
    for (int i = 0; i < 200; ++i) {
      const Ns t = static_cast<Ns>(random() % 140);
      const bool wants_op = random() % 2 == 0;
      REQUIRE(binder.slice_at(t, wants_op) == naive_slice_at(s, t, wants_op));
    }
  }
}

TEST_CASE("binding flows costs steps in proportion to their number, in crowds and behind many slices that have ended") {
  for (const bool crowd : {true, false}) {
    const auto steps = [crowd](std::size_t n) {
      SomeSlices s;
      std::vector<Ns> times;
      for (std::size_t i = 0; i < n; ++i) {
        s.sorted.push_back(static_cast<std::uint32_t>(i));
        s.begin.push_back(crowd ? static_cast<Ns>(2 * i / n) : static_cast<Ns>(i));
        s.end.push_back(i == 0 ? static_cast<Ns>(9 * n) : s.begin.back() + 1);
        s.kinds.push_back(static_cast<std::uint8_t>(Kind::op));
        times.push_back(crowd ? static_cast<Ns>(i % 2) : static_cast<Ns>(2 * n + i));
      }
      return steps_to_bind(s, times);
    };
    CHECK(steps(20'000) < 20'000 * 256);
    CHECK(steps(80'000) < 5 * steps(20'000));
  }
}
