#include "core/base/id_map.h"

#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include <doctest/doctest.h>

using namespace gapscope;

namespace {

constexpr std::uint32_t kNone = 0xFFFF'FFFF;

// Small ids, ids just below and above what has a bit, and any others.
std::vector<std::uint64_t> some_ids(std::mt19937_64& random, std::size_t n) {
  std::vector<std::uint64_t> ids;
  while (ids.size() < n) {
    switch (random() % 4) {
      case 0: ids.push_back(random() % (2 * n)); break;
      case 1: ids.push_back(64 * n + 1024 - 20 + random() % 40); break;
      case 2: ids.push_back(random()); break;
      default: ids.push_back(~std::uint64_t{0} - random() % 3);
    }
  }
  return ids;
}

}  // namespace

TEST_CASE("an id map finds what was put in and nothing else, small ids and wide ones") {
  std::mt19937_64 random(11);
  for (const std::size_t n : {1u, 5u, 100u, 5000u}) {
    const std::vector<std::uint64_t> ids = some_ids(random, n);
    IdMap<std::uint32_t> map(n, kNone);
    for (const std::uint64_t id : ids) map.expect(id);
    map.seal();
    std::map<std::uint64_t, std::uint32_t> expected;
    for (std::uint32_t i = 0; i < ids.size(); i += 2) {  // the others were expected but have no value
      map[ids[i]] = i;
      expected[ids[i]] = i;
    }
    const auto check = [&](std::uint64_t id) {
      const auto at = expected.find(id);
      REQUIRE(map.find(id) == (at == expected.end() ? kNone : at->second));
    };
    for (const std::uint64_t id : ids) {
      check(id);
      check(id + 1);
      check(id - 1);
    }
    for (int i = 0; i < 1000; ++i) check(random() >> (random() % 64));
  }
}

TEST_CASE("an id map of nothing finds nothing") {
  IdMap<std::uint32_t> map;
  map.seal();
  for (const std::uint64_t id :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1023}, std::uint64_t{1024}, ~std::uint64_t{0}})
    CHECK(map.find(id) == 0);
}
