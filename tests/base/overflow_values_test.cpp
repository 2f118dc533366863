#include "core/base/overflow_values.h"

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "core/base/parallel.h"

using namespace gapscope;

namespace {

// Every length of number.
std::uint64_t number(std::mt19937_64& random) { return random() >> (random() % 64); }

}  // namespace

TEST_CASE("a packed number is the number again, whatever its size") {
  OverflowValues values;
  OverflowValues::Writer writer(values);
  std::mt19937_64 random(3);
  std::vector<std::pair<std::uint64_t, std::uint32_t>> packed;
  for (const std::uint64_t n : {std::uint64_t{0}, std::uint64_t{0x7FFF'FFFF}, std::uint64_t{0x8000'0000},
                                std::uint64_t{0xFFFF'FFFF}, ~std::uint64_t{0}}) {
    packed.emplace_back(n, writer.pack(n));
  }
  for (int i = 0; i < 5000; ++i) {
    const std::uint64_t n = number(random);
    packed.emplace_back(n, writer.pack(n));
  }
  for (const auto& [n, p] : packed) {
    REQUIRE(values.unpack(p) == n);
    REQUIRE(OverflowValues::is_wide(p) == (n > 0x7FFF'FFFF));
  }
}

TEST_CASE("several threads pack side by side, and a copy knows all of it") {
  OverflowValues values;
  constexpr int kThreads = 4;
  std::vector<std::vector<std::pair<std::uint64_t, std::uint32_t>>> packed(kThreads);
  run_workers(kThreads, [&](int worker) {
    std::mt19937_64 random(static_cast<std::uint64_t>(worker));
    for (int piece = 0; piece < 20; ++piece) {
      OverflowValues::Writer writer(values);
      for (int i = 0; i < 400; ++i) {
        const std::uint64_t n = number(random);
        packed[static_cast<std::size_t>(worker)].emplace_back(n, writer.pack(n));
      }
    }
  });
  OverflowValues twin;
  values.copy_to(twin);
  for (const auto& of_thread : packed) {
    for (const auto& [n, p] : of_thread) {
      REQUIRE(values.unpack(p) == n);
      REQUIRE(twin.unpack(p) == n);
    }
  }
}
