#include "app/sampler/asked_times.h"

#include <doctest/doctest.h>

#include <random>
#include <vector>

using namespace gapscope::sampler;

namespace {

const auto kNone = [](const Times&) { return false; };

}  // namespace

TEST_CASE("a time is in the part asked for from its begin to its end, and while it is open") {
  AskedTimes asked;
  CHECK_FALSE(asked.contains(5));
  asked.open(1, 10);
  CHECK_FALSE(asked.contains(9));
  CHECK(asked.contains(10));
  CHECK(asked.contains(1'000));
  asked.close(1, 20);
  CHECK(asked.contains(20));
  CHECK_FALSE(asked.contains(21));
  asked.close(1, 30);
  asked.close(7, 30);
  CHECK_FALSE(asked.contains(25));
}

TEST_CASE("any order of overlapping stretches gives what looking at each of them gives") {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    AskedTimes asked;
    std::vector<Times> all;
    for (std::uint32_t marker = 0; marker < 60; ++marker) {
      const Ns begin = static_cast<Ns>(random() % 1'000), end = begin + static_cast<Ns>(random() % 40);
      asked.open(marker, begin);
      if (marker % 7 == 3) asked.open(marker, begin);  // told twice
      asked.close(marker, end);
      all.push_back({begin, end});
    }
    for (Ns time = 0; time < 1'050; ++time) {
      bool expected = false;
      for (const Times& t : all) expected = expected || (t.begin <= time && time <= t.end);
      REQUIRE(asked.contains(time) == expected);
    }
  }
}

TEST_CASE("80,000 stretches are searched, not gone through") {
  AskedTimes asked;
  for (std::uint32_t i = 0; i < 80'000; ++i) {
    asked.open(i, i * 100);
    asked.close(i, i * 100 + 50);
    CHECK(asked.contains(i * 100 + 25));
    CHECK_FALSE(asked.contains(i * 100 + 75));
  }
  CHECK(asked.steps() < 80'000 * 40);
  asked.forget(80'000 * 100, kNone);
  CHECK(asked.size() == 0);
}

TEST_CASE("200,000 stretches in one another cost no more") {
  constexpr std::uint32_t kMany = 200'000;
  AskedTimes asked;
  for (std::uint32_t i = 0; i < kMany; ++i) asked.open(i, i);
  for (std::uint32_t i = kMany; i-- > 0;) {
    CHECK(asked.contains(kMany));
    asked.close(i, 2 * kMany - i);
  }
  CHECK(asked.size() == 1);
  CHECK(asked.steps() < 4 * kMany);
}

TEST_CASE("what ended before is forgotten, but for what is needed") {
  AskedTimes asked;
  for (std::uint32_t i = 0; i < 10; ++i) {
    asked.open(i, i * 100);
    asked.close(i, i * 100 + 50);
  }
  asked.forget(500, [](const Times& t) { return t.begin == 200; });
  CHECK(asked.size() == 6);
  CHECK(asked.contains(225));
  CHECK_FALSE(asked.contains(125));
  CHECK(asked.contains(550));
}
