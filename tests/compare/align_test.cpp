// Alignment of lists, against plain ways to compute it.
#include <algorithm>
#include <random>

#include <doctest/doctest.h>

#include "core/compare/align.h"

using namespace gapscope;

namespace {

std::vector<AlignKey> keys(const std::vector<int>& names) {
  std::vector<AlignKey> out;
  for (const int n : names) out.push_back({static_cast<std::uint64_t>(n), static_cast<std::uint64_t>(n)});
  return out;
}

std::size_t longest_common(const std::vector<AlignKey>& a, const std::vector<AlignKey>& b) {
  std::vector<std::vector<std::size_t>> best(a.size() + 1, std::vector<std::size_t>(b.size() + 1, 0));
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j)
      best[i][j] = a[i - 1] == b[j - 1] ? best[i - 1][j - 1] + 1 : std::max(best[i - 1][j], best[i][j - 1]);
  return best[a.size()][b.size()];
}

void check_sound(const Alignment& alignment, const std::vector<AlignKey>& a, const std::vector<AlignKey>& b) {
  for (std::size_t m = 0; m < alignment.matches.size(); ++m) {
    const auto [i, j] = alignment.matches[m];
    CHECK(a[i].name == b[j].name);
    if (m > 0) CHECK((alignment.matches[m - 1].first < i && alignment.matches[m - 1].second < j));
  }
}

std::vector<AlignKey> random_keys(std::mt19937& random, std::size_t n, int alphabet) {
  std::vector<int> names;
  for (std::size_t i = 0; i < n; ++i) names.push_back(static_cast<int>(random() % static_cast<unsigned>(alphabet)));
  return keys(names);
}

}  // namespace

TEST_CASE("short lists are aligned as well as possible, and both directions agree") {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const auto a = random_keys(random, random() % 12, 4), b = random_keys(random, random() % 12, 4);
    const Alignment forth = align(a, b), back = align(b, a);
    check_sound(forth, a, b);
    CHECK(forth.matches.size() == longest_common(a, b));
    REQUIRE(forth.matches.size() == back.matches.size());
    for (std::size_t m = 0; m < forth.matches.size(); ++m)
      CHECK((forth.matches[m].first == back.matches[m].second && forth.matches[m].second == back.matches[m].first));
  }
}

TEST_CASE("of equal names those that are equal in full are matched") {
  const std::vector<AlignKey> a = {{1, 10}, {1, 20}, {1, 30}}, b = {{1, 20}, {1, 30}};
  const Alignment alignment = align(a, b);
  REQUIRE(alignment.matches.size() == 2);
  CHECK(alignment.matches[0] == std::pair(1u, 0u));
  CHECK(alignment.matches[1] == std::pair(2u, 1u));
}

TEST_CASE("a long list with one item missing is aligned in full") {
  std::vector<int> names;
  for (int i = 0; i < 100'000; ++i) names.push_back(i % 7);
  auto shorter = names;
  shorter.erase(shorter.begin() + 50'000);
  const Alignment alignment = align(keys(names), keys(shorter));
  CHECK(alignment.matches.size() == shorter.size());
  CHECK(!alignment.in_pieces);
}

TEST_CASE("long lists are cut at what occurs once on each side") {
  std::mt19937 random(2);
  std::vector<int> a, b;
  for (int i = 0; i < 200; ++i) {  // a number of its own among noise that differs
    for (int k = 0; k < 20; ++k)
      a.push_back(-1 - static_cast<int>(random() % 3)), b.push_back(-1 - static_cast<int>(random() % 3));
    a.push_back(1000 + i), b.push_back(1000 + i);
  }
  const auto ka = keys(a), kb = keys(b);
  const Alignment alignment = align(ka, kb);
  check_sound(alignment, ka, kb);
  CHECK(!alignment.in_pieces);
  const auto anchored =
      std::count_if(alignment.matches.begin(), alignment.matches.end(), [&](const auto& m) { return a[m.first] >= 1000; });
  CHECK(anchored == 200);
}

TEST_CASE("long lists of few names that differ everywhere are aligned in pieces, soundly and in both directions alike") {
  std::mt19937 random(3);
  const auto a = random_keys(random, 60'000, 5), b = random_keys(random, 50'000, 5);
  const Alignment forth = align(a, b), back = align(b, a);
  CHECK(forth.in_pieces);
  check_sound(forth, a, b);
  CHECK(forth.matches.size() > 25'000);
  REQUIRE(forth.matches.size() == back.matches.size());
  CHECK(std::equal(forth.matches.begin(), forth.matches.end(), back.matches.begin(),
                   [](const auto& x, const auto& y) { return x.first == y.second && x.second == y.first; }));
}

TEST_CASE("an empty list matches nothing") {
  CHECK(align({}, keys({1, 2})).matches.empty());
  CHECK(align(keys({1}), {}).matches.empty());
  CHECK(align({}, {}).matches.empty());
}
