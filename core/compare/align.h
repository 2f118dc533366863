#pragma once
// Which items of two ordered lists belong together: an alignment that keeps the order (edit distance without substitution),
// where items of equal name may match and those that are equal in full are preferred.
//
// Work is bounded: equal beginnings and ends are set aside; what is left is solved exactly while its two lengths multiply to
// kMostCells or less; longer lists are cut at items that occur once on each side, and where there are none at equal shares
// of both, so that no item costs more than about sqrt(kMostCells) steps.
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace gapscope {

struct AlignKey {
  std::uint64_t name = 0;
  std::uint64_t exact = 0;  // equal only where `name` is
  friend auto operator<=>(const AlignKey&, const AlignKey&) = default;
};

struct Alignment {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> matches;  // ascending in both
  bool in_pieces = false;                                        // cut at equal shares: a better one may exist
};

constexpr std::size_t kMostCells = 250'000;

// align(b, a) is the mirror of align(a, b).
Alignment align(std::span<const AlignKey> a, std::span<const AlignKey> b);

}  // namespace gapscope
