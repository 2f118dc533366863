#pragma once
// Sorts many records by a whole number, byte by byte from the least: O(n) a byte, and only bytes that differ at all cost
// something. Equal ones keep their order.
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "core/base/time.h"

namespace gapscope {

// `other` is room to work in, reused by the caller where it sorts often. `key` gives an unsigned number.
template <class Rows, class Key>
void radix_sort(Rows& list, Rows& other, Key key) {
  using T = typename Rows::value_type;
  constexpr std::size_t kFew = 64;  // so few are faster compared with each other
  const auto before = [&](const T& a, const T& b) { return key(a) < key(b); };
  if (list.size() <= kFew) return std::stable_sort(list.begin(), list.end(), before);
  using Number = decltype(key(list.front()));
  const Number some = key(list.front());
  Number differing = 0, last = some;
  bool sorted = true;
  for (const T& t : list) {
    const Number k = key(t);
    differing |= k ^ some;
    sorted &= last <= k;
    last = k;
  }
  if (sorted) return;
  other.resize(list.size());
  for (unsigned shift = 0; shift < sizeof(Number) * 8 && (differing >> shift) != 0; shift += 8) {
    const auto byte = [&](const T& t) { return static_cast<std::uint8_t>(key(t) >> shift); };
    if (static_cast<std::uint8_t>(differing >> shift) == 0) continue;
    std::array<std::uint32_t, 257> next{};
    for (const T& t : list) ++next[byte(t) + std::size_t{1}];
    for (std::size_t b = 1; b < 256; ++b) next[b] += next[b - 1];
    for (const T& t : list) other[next[byte(t)]++] = t;
    list.swap(other);
  }
}

// Times as unsigned numbers of the same order.
constexpr std::uint64_t ordered_bits(Ns t) { return static_cast<std::uint64_t>(t) ^ (std::uint64_t{1} << 63); }

inline void sort_times(std::vector<Ns>& times) {
  std::vector<Ns> other;
  radix_sort(times, other, ordered_bits);
}

}  // namespace gapscope
