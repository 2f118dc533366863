// Span sets against a bitmap of single nanoseconds.
#include "core/base/span_set.h"

#include <bitset>
#include <locale>
#include <ostream>

#include <doctest/doctest.h>

#include <random>

using namespace gapscope;

namespace {

constexpr std::size_t kLength = 64;
using Bits = std::bitset<kLength>;

Bits bits(const std::vector<Span>& spans) {
  Bits b;
  for (const Span s : spans)
    for (Ns t = s.begin; t < s.end; ++t) b.set(static_cast<std::size_t>(t));
  return b;
}

std::vector<Span> random_spans(std::mt19937& random) {
  std::vector<Span> spans(random() % 7);
  for (Span& s : spans) {
    s.begin = static_cast<Ns>(random() % kLength);
    s.end = std::min<Ns>(kLength, s.begin + static_cast<Ns>(random() % 12));
  }
  return spans;
}

bool well_formed(const SpanSet& set) {
  for (std::size_t i = 0; i < set.size(); ++i)
    if (set[i].empty() || (i > 0 && set[i].begin <= set[i - 1].end)) return false;
  return true;
}

void check(const SpanSet& set, const Bits& expected) {
  CHECK(well_formed(set));
  CHECK(bits(set) == expected);
  CHECK(length(set) == static_cast<Ns>(expected.count()));
}

}  // namespace

TEST_CASE("union, intersection, difference and clipping are those of single nanoseconds") {
  std::mt19937 random(4);
  for (int round = 0; round < 4000; ++round) {
    const auto raw_a = random_spans(random), raw_b = random_spans(random);
    const SpanSet a = span_set(raw_a), b = span_set(raw_b);
    const Bits bits_a = bits(raw_a), bits_b = bits(raw_b);
    check(a, bits_a);
    check(unite(a, b), bits_a | bits_b);
    check(unite({a, b, span_set({{3, 9}})}), bits_a | bits_b | bits({{3, 9}}));
    check(intersect(a, b), bits_a & bits_b);
    check(subtract(a, b), bits_a & ~bits_b);
    const Span to{static_cast<Ns>(random() % 40), 50};
    check(clip(a, to), bits_a & bits({to}));
    CHECK(length_within(a, to) == length(clip(a, to)));
  }
}

TEST_CASE("spans that touch become one, empty ones vanish") {
  CHECK(span_set({{5, 9}, {1, 5}, {20, 20}, {12, 11}}) == SpanSet{{1, 9}});
  CHECK(span_set({}).empty());
  CHECK(unite(std::vector<SpanSet>{}).empty());
}
