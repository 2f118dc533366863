#include "core/base/packed_spans.h"

#include <doctest/doctest.h>

#include <limits>
#include <random>

using namespace gapscope;

TEST_CASE("a set of spans is the same after it was packed") {
  std::mt19937_64 random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<Span> spans;
    const auto reach = static_cast<int>(random() % 62) + 1;
    for (std::uint64_t i = random() % 50; i > 0; --i) {
      const auto begin = static_cast<Ns>(random() >> 1 >> (63 - reach)) - (Ns{1} << (reach - 1));
      spans.push_back({begin, begin + static_cast<Ns>(random() % (std::uint64_t{1} << (random() % 40)))});
    }
    const SpanSet set = span_set(std::move(spans));
    CHECK(PackedSpans(set).unpacked() == set);
  }
}

TEST_CASE("packing is exact for every time, also for stretches of days and for none") {
  constexpr Ns kLeast = std::numeric_limits<Ns>::min(), kMost = std::numeric_limits<Ns>::max();
  for (const SpanSet& set : {SpanSet{}, SpanSet{{0, 1}}, SpanSet{{-5, -3}, {-2, 7}}, SpanSet{{kLeast, kMost}},
                             SpanSet{{kLeast, kLeast + 1}, {kMost - 1, kMost}}, SpanSet{{kNsPerS, 100'000 * kNsPerS}}})
    CHECK(PackedSpans(set).unpacked() == set);
}

TEST_CASE("spans and gaps of some microseconds take two bytes a number") {
  SpanSet set;
  for (Ns i = 0; i < 1000; ++i) set.push_back({i * 12'000, i * 12'000 + 9'000});
  CHECK(PackedSpans(set).bytes.size() <= 4 * set.size());
}
