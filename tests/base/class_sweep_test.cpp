// The sweep against single nanoseconds.
#include "core/base/class_sweep.h"

#include <bitset>
#include <locale>
#include <ostream>
#include <random>
#include <vector>

#include <doctest/doctest.h>

using namespace gapscope;

TEST_CASE("a sweep over classes counts every nanosecond by the classes that run in it") {
  std::mt19937 random(11);
  for (int round = 0; round < 500; ++round) {
    struct Work {
      std::size_t cls;
      Span span;
    };
    std::vector<Work> all(random() % 9);
    std::array<std::bitset<80>, 3> runs;
    for (Work& w : all) {
      const auto begin = static_cast<Ns>(random() % 60);
      w = {random() % 3, {begin, begin + static_cast<Ns>(random() % 20)}};
      for (Ns t = w.span.begin; t < w.span.end; ++t) runs[w.cls].set(static_cast<std::size_t>(t));
    }
    std::stable_sort(all.begin(), all.end(), [](const Work& a, const Work& b) { return a.span.begin < b.span.begin; });
    ClassSweep<3> sweep;
    for (const Work& w : all) sweep.add(w.cls, w.span);
    std::array<Ns, 8> want{};
    for (std::size_t t = 0; t < 80; ++t) ++want[runs[0][t] + 2u * runs[1][t] + 4u * runs[2][t]];
    want[0] = 0;
    const auto& got = sweep.finish();
    CHECK(got == want);
    CHECK(time_with(got, 5) == static_cast<Ns>((runs[0] | runs[2]).count()));
  }
}
