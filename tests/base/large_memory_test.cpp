#include "core/base/large_memory.h"

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "core/base/parallel.h"

using namespace gapscope;

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

struct Piece {
  char* at;
  std::size_t bytes;
  char mark;

  Piece(std::size_t n, char m) : at(static_cast<char*>(allocate_large(n))), bytes(n), mark(m) { std::memset(at, m, n); }
  bool is_whole() const {
    for (std::size_t i = 0; i < bytes; i += 997) {
      if (at[i] != mark) return false;
    }
    return at[bytes - 1] == mark;
  }
  void free() const { free_large(at, bytes); }
};

// Allocates and frees at random, `rounds` times; false where a piece did not keep what was written into it.
bool pieces_stay_apart(unsigned seed, int rounds) {
  std::mt19937 random(seed);
  std::vector<Piece> live;
  bool all_whole = true;
  for (int i = 0; i < rounds; ++i) {
    if (live.size() < 6 && random() % 3 != 0) {
      live.emplace_back(random() % (5 * kHugePage) + 1, static_cast<char>(random()));
    } else if (!live.empty()) {
      const std::size_t which = random() % live.size();
      all_whole = all_whole && live[which].is_whole();
      live[which].free();
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(which));
    }
  }
  for (const Piece& piece : live) {
    all_whole = all_whole && piece.is_whole();
    piece.free();
  }
  return all_whole;
}

}  // namespace

TEST_CASE("large memory is aligned to huge pages and may be written whole") {
  for (const std::size_t bytes : {std::size_t{1}, kHugePage - 1, kHugePage, kHugePage + 1, 7 * kHugePage + 5}) {
    const Piece piece(bytes, 'x');
    CHECK(reinterpret_cast<std::uintptr_t>(piece.at) % kHugePage == 0);
    CHECK(piece.is_whole());
    piece.free();
  }
}

TEST_CASE("pieces never lie in two places") { CHECK(pieces_stay_apart(1, 400)); }

TEST_CASE("several threads allocate and free side by side") {
  std::vector<std::uint8_t> whole(4, 0);
  run_workers(4, [&](int worker) {
    whole[static_cast<std::size_t>(worker)] = pieces_stay_apart(static_cast<unsigned>(worker) + 10, 150);
  });
  CHECK(whole == std::vector<std::uint8_t>(4, 1));
}
