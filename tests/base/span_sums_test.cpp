#include "core/base/span_sums.h"

#include <random>

#include <doctest/doctest.h>

using namespace gapscope;

TEST_CASE("sums of a set answer what adding up its spans does") {
  std::mt19937 random(4);
  for (int round = 0; round < 300; ++round) {
    std::vector<Span> spans(random() % 9);
    for (Span& s : spans) {
      s.begin = static_cast<Ns>(random() % 64);
      s.end = s.begin + static_cast<Ns>(random() % 12);
    }
    const SpanSet set = span_set(std::move(spans));
    const SpanSums sums(set);
    for (int i = 0; i < 20; ++i) {
      const Span to{static_cast<Ns>(random() % 80) - 2, static_cast<Ns>(random() % 80) - 2};
      CHECK(sums.within(to) == length_within(set, to));
    }
  }
}
