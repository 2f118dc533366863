#include "app/sampler/ranges.h"

#include <doctest/doctest.h>

using namespace gapscope::sampler;

namespace {

Marker begins(std::uint32_t id, Ns time, std::string_view name, std::string_view domain = "", std::uint32_t thread = 1) {
  return {Marker::What::begin, time, id, thread, name, domain};
}
Marker ends(std::uint32_t id, Ns time) { return {Marker::What::end, time, id, 1, {}, {}}; }
Call launch(Ns time, std::uint32_t correlation, std::uint32_t thread = 1) { return {{time, time + 5}, "cudaLaunchKernel", false, 0, thread, correlation}; }
GpuPlace on_stream(std::int32_t stream, std::uint32_t correlation) { return {0, 1, stream, correlation, 0, 0}; }

std::string text_of(const std::vector<GpuRange>& ranges) {
  std::string text;
  for (const GpuRange& r : ranges)
    text += r.name + "@" + std::to_string(r.stream) + "[" + std::to_string(r.times.begin) + "," + std::to_string(r.times.end) + ") ";
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
