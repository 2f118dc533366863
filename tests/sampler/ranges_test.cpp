#include "app/sampler/ranges.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>

using namespace gapscope::sampler;

namespace {

Marker begins(std::uint32_t id, Ns time, std::string_view name, std::string_view domain = "", std::uint32_t thread = 1) {
  return {Marker::What::begin, time, id, thread, name, domain};
}
Marker ends(std::uint32_t id, Ns time) { return {Marker::What::end, time, id, 1, {}, {}}; }
Call launch(Ns time, std::uint32_t correlation, std::uint32_t thread = 1) {
  return {{time, time + 5}, "cudaLaunchKernel", false, 0, thread, correlation};
}
GpuPlace on_stream(std::int32_t stream, std::uint32_t correlation) { return {0, 1, stream, correlation, 0, 0}; }

std::string text_of(const std::vector<GpuRange>& ranges) {
  std::string text;
  for (const GpuRange& r : ranges)
    text += r.name + "@" + std::to_string(r.stream) + "[" + std::to_string(r.times.begin) + "," + std::to_string(r.times.end) +
            ") ";
  return text;
}

}  // namespace

TEST_CASE("the two ends of a range become one, with the name of its begin") {
  Ranges ranges;
  CHECK_FALSE(ranges.add(begins(9, 100, "step")));
  const auto whole = ranges.add(ends(9, 200));
  REQUIRE(whole);
  CHECK(whole->name == "step");
  CHECK(whole->times.begin == 100);
  CHECK(whole->times.end == 200);
  CHECK_FALSE(ranges.add(ends(9, 300)));
  CHECK_FALSE(ranges.add(ends(77, 300)));
}

TEST_CASE("work belongs to every range that was open on the thread of its launch, from its first to its last on each stream") {
  Ranges ranges;
  ranges.add(begins(1, 0, "outer"));
  ranges.add(begins(2, 10, "first"));
  ranges.add_call(launch(11, 100));
  ranges.add(ends(2, 20));
  ranges.add(begins(3, 30, "second"));
  ranges.add_call(launch(31, 101));
  ranges.add_call(launch(32, 102, /*thread=*/2));
  ranges.add(ends(3, 40));
  ranges.add(ends(1, 50));
  ranges.add_work(on_stream(7, 100), {60, 70});
  ranges.add_work(on_stream(7, 101), {80, 90});
  ranges.add_work(on_stream(8, 102), {80, 95});
  CHECK(text_of(ranges.take_gpu_ranges(1000)) == "outer@7[60,90) first@7[60,70) second@7[80,90) ");
}

TEST_CASE("work that is heard of before its call waits for it") {
  Ranges ranges;
  ranges.add(begins(1, 0, "step"));
  ranges.add_work(on_stream(7, 100), {60, 70});
  ranges.add_call(launch(11, 100));
  ranges.add(ends(1, 50));
  CHECK(text_of(ranges.take_gpu_ranges(55)) == "step@7[60,70) ");
}

TEST_CASE("operators have no side on the GPU") {
  Ranges ranges;
  ranges.add(begins(1, 0, "aten::mm", "operators"));
  ranges.add_call(launch(11, 100));
  ranges.add_work(on_stream(7, 100), {60, 70});
  CHECK(ranges.add(ends(1, 50)));
  CHECK(ranges.take_gpu_ranges(1000).empty());
}

TEST_CASE("a range that never ended ends with the recording, and its GPU side is not lost") {
  Ranges ranges;
  ranges.add(begins(1, 0, "step"));
  ranges.add_call(launch(11, 100));
  ranges.add_work(on_stream(7, 100), {60, 70});
  CHECK(ranges.take_gpu_ranges(50).empty());
  const auto open = ranges.take_open(90);
  REQUIRE(open.size() == 1);
  CHECK(open[0].times.end == 90);
  CHECK(text_of(ranges.take_gpu_ranges(1000)) == "step@7[60,70) ");
}

TEST_CASE("ranges that overlap on a thread have the work that was launched in each") {
  Ranges ranges;
  ranges.add(begins(1, 0, "a"));
  ranges.add_call(launch(1, 100));
  ranges.add(begins(2, 5, "b"));
  ranges.add_call(launch(6, 101));
  ranges.add(ends(1, 10));
  ranges.add_call(launch(15, 102));
  ranges.add(ends(2, 20));
  ranges.add_work(on_stream(7, 100), {60, 70});
  ranges.add_work(on_stream(7, 101), {80, 90});
  ranges.add_work(on_stream(7, 102), {100, 110});
  CHECK(text_of(ranges.take_gpu_ranges(1000)) == "a@7[60,90) b@7[80,110) ");
}

TEST_CASE("a range is handed over when it has ended, though the one around it continues") {
  Ranges ranges;
  ranges.add(begins(1, 0, "outer"));
  ranges.add(begins(2, 10, "first"));
  ranges.add_call(launch(11, 100));
  ranges.add(ends(2, 20));
  ranges.add_work(on_stream(7, 100), {60, 70});
  CHECK(text_of(ranges.take_gpu_ranges(1'000)) == "first@7[60,70) ");
  CHECK(ranges.kept() == 1);
  CHECK(ranges.began_within({0, 5}));
  CHECK_FALSE(ranges.began_within({5, 15}));
  ranges.add(ends(1, 2'000));
  CHECK(text_of(ranges.take_gpu_ranges(3'000)) == "outer@7[60,70) ");
  CHECK(ranges.kept() == 0);
}

TEST_CASE("a marker that begins twice ends its first range there") {
  Ranges ranges;
  ranges.add(begins(1, 0, "first"));
  ranges.add(begins(2, 5, "op", "operators"));
  ranges.add_call(launch(6, 100));
  ranges.add(begins(1, 10, "second"));
  ranges.add(begins(2, 12, "op", "operators"));
  ranges.add_call(launch(16, 101));
  ranges.add(ends(1, 20));
  ranges.add(ends(2, 20));
  ranges.add_work(on_stream(7, 100), {60, 70});
  ranges.add_work(on_stream(7, 101), {80, 90});
  CHECK(text_of(ranges.take_gpu_ranges(1000)) == "first@7[60,70) second@7[80,90) ");
  CHECK(ranges.kept() == 0);
}

TEST_CASE("any ranges and launches, in any order within the time that records take, give what looking at all of them gives") {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    struct Whole {
      Times times;
      std::uint32_t thread;
    };
    std::vector<Whole> all;
    std::vector<Marker> markers;
    std::vector<std::string> names;
    for (std::uint32_t id = 0; id < 30; ++id) names.push_back("r" + std::to_string(id));
    for (std::uint32_t id = 0; id < 30; ++id) {
      const Ns begin = static_cast<Ns>(random() % 400), end = begin + static_cast<Ns>(random() % 120);
      const std::uint32_t thread = random() % 2;
      all.push_back({{begin, end}, thread});
      markers.push_back({Marker::What::begin, begin, id, thread, names[id], ""});
      markers.push_back({Marker::What::end, end, id, thread, "", ""});
    }
    std::stable_sort(markers.begin(), markers.end(),
                     [](const Marker& a, const Marker& b) { return a.time != b.time ? a.time < b.time : a.what < b.what; });
    Ranges ranges;
    std::map<std::string, Times> expected;
    for (std::uint32_t id = 0; id < 40; ++id) {
      const Ns time = random() % 500;
      const std::uint32_t thread = random() % 2;
      const Times ran{1'000 + static_cast<Ns>(random() % 900), 2'000 + static_cast<Ns>(random() % 900)};
      ranges.add_call(launch(time, id + 1, thread));
      ranges.add_work(on_stream(7, id + 1), ran);
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].thread != thread || time < all[i].times.begin || time > all[i].times.end) continue;
        const auto [at, fresh] = expected.try_emplace(names[i], ran);
        at->second = {std::min(at->second.begin, ran.begin), std::max(at->second.end, ran.end)};
      }
    }
    for (const Marker& marker : markers) ranges.add(marker);
    std::map<std::string, Times> found;
    for (const Ns until : {100, 150, 333, 9'999})
      for (const GpuRange& range : ranges.take_gpu_ranges(until)) REQUIRE(found.emplace(range.name, range.times).second);
    REQUIRE(found.size() == expected.size());
    for (const auto& [name, times] : expected) {
      CHECK(found[name].begin == times.begin);
      CHECK(found[name].end == times.end);
    }
    CHECK(ranges.kept() == 0);
  }
}

TEST_CASE("80,000 ranges one after another cost some steps each, and are forgotten when they are done") {
  constexpr std::uint32_t kMany = 80'000;
  Ranges ranges;
  ranges.add(begins(kMany + 1, 0, "epoch"));
  std::size_t taken = 0, most = 0;
  for (std::uint32_t i = 0; i < kMany; ++i) {
    const Ns at = 10 + i * 100;
    ranges.add(begins(i, at, "step"));
    ranges.add_call(launch(at + 10, i + 1));
    ranges.add(ends(i, at + 50));
    ranges.add_work(on_stream(7, i + 1), {at + 60, at + 70});
    if (i % 500 == 0) taken += ranges.take_gpu_ranges(at - 1'000).size();
    most = std::max(most, ranges.kept());
  }
  taken += ranges.take_gpu_ranges(kMany * 200).size();
  CHECK(taken == kMany);
  CHECK(most < 1'000);
  CHECK(ranges.kept() == 1);
  CHECK(ranges.steps() < 10 * kMany);
}

TEST_CASE("200,000 ranges in one another cost some steps each, with a launch in every one") {
  constexpr std::uint32_t kMany = 200'000;
  Ranges ranges;
  for (std::uint32_t i = 0; i < kMany; ++i) {
    ranges.add(begins(i, i * 10, "deep"));
    ranges.add_call(launch(i * 10 + 5, i + 1));
    ranges.add_work(on_stream(7, i + 1), {10'000'000 + i, 10'000'010 + i});
  }
  SUBCASE("all ended") {
    for (std::uint32_t i = kMany; i-- > 0;) ranges.add(ends(i, 4'000'000 - i * 10));
    const auto taken = ranges.take_gpu_ranges(5'000'000);
    REQUIRE(taken.size() == kMany);
    CHECK(taken[1'000].times.begin == 10'001'000);  // its own launch and those in all that are in it
    CHECK(taken[1'000].times.end == 10'000'010 + kMany - 1);
  }
  SUBCASE("none ended: the recording does") {
    CHECK(ranges.take_open(4'000'000).size() == kMany);
    CHECK(ranges.take_gpu_ranges(5'000'000).size() == kMany);
  }
  CHECK(ranges.kept() == 0);
  CHECK(ranges.steps() < 10 * std::uint64_t{kMany});
}
