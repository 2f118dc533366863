#pragma once
// A fast, stable (same on every run and machine of one byte order) hash of bytes for in-memory tables; not for untrusted
// keys that could be chosen to collide across the network: a trace that tries only makes its own loading slower.
#include <cstdint>
#include <cstring>
#include <string_view>

namespace gapscope {

constexpr std::uint64_t mix64(std::uint64_t x) {
  // Finalizer of MurmurHash3 (public domain, Austin Appleby).
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ULL;
  x ^= x >> 33;
  return x;
}

inline std::uint64_t hash_bytes(const char* data, std::size_t size) {
  std::uint64_t h = 0x9E3779B97F4A7C15ULL ^ (size * 0xff51afd7ed558ccdULL);
  while (size >= 8) {
    std::uint64_t word;
    std::memcpy(&word, data, 8);
    h = (h ^ word) * 0x9FB21C651E98DF25ULL;
    h ^= h >> 32;
    data += 8;
    size -= 8;
  }
  std::uint64_t tail = 0;
  if (size > 0) std::memcpy(&tail, data, size);  // an empty view may have no data at all
  return mix64(h ^ tail);
}

inline std::uint64_t hash_text(std::string_view text) { return hash_bytes(text.data(), text.size()); }

}  // namespace gapscope
