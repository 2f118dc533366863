#pragma once
// Equality of short texts without a call: names, keys and ids of events are compared tens of millions of times a file.
#include <cstdint>
#include <cstring>
#include <string_view>

namespace gapscope {

[[gnu::always_inline]] inline bool same_text(std::string_view a, std::string_view b) {
  const std::size_t n = a.size();
  if (n != b.size()) return false;
  const auto differ = [&]<class Word>(Word, std::size_t at) {
    Word x{}, y{};
    std::memcpy(&x, a.data() + at, sizeof x);
    std::memcpy(&y, b.data() + at, sizeof y);
    return static_cast<std::uint64_t>(x ^ y);
  };
  if (n >= 16) {
    std::uint64_t different = 0;
    for (std::size_t i = 0; i + 16 <= n; i += 16) different |= differ(std::uint64_t{}, i) | differ(std::uint64_t{}, i + 8);
    return (different | differ(std::uint64_t{}, n - 16) | differ(std::uint64_t{}, n - 8)) == 0;
  }
  if (n >= 8) return (differ(std::uint64_t{}, 0) | differ(std::uint64_t{}, n - 8)) == 0;
  if (n >= 4) return (differ(std::uint32_t{}, 0) | differ(std::uint32_t{}, n - 4)) == 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

}  // namespace gapscope
