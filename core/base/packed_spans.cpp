#include "core/base/packed_spans.h"

namespace gapscope {
namespace {

// Seven bits a byte, the low ones first; the highest bit says that more follow.
void put(std::uint64_t value, std::vector<std::uint8_t>& out) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<std::uint8_t>(value | 0x80));
  out.push_back(static_cast<std::uint8_t>(value));
}

std::uint64_t take(const std::vector<std::uint8_t>& bytes, std::size_t& at) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; at < bytes.size() && shift < 64; shift += 7) {
    const std::uint8_t byte = bytes[at++];
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) break;
  }
  return value;
}

}  // namespace

// Unsigned, so that the first distance may be of any sign: it wraps around and back.
PackedSpans::PackedSpans(const SpanSet& set) {
  std::uint64_t until = 0;
  for (const Span& span : set) {
    put(static_cast<std::uint64_t>(span.begin) - until, bytes);
    put(static_cast<std::uint64_t>(span.end) - static_cast<std::uint64_t>(span.begin), bytes);
    until = static_cast<std::uint64_t>(span.end);
  }
  bytes.shrink_to_fit();
}

SpanSet PackedSpans::unpacked() const {
  SpanSet out;
  std::uint64_t until = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::uint64_t begin = until + take(bytes, at);
    until = begin + take(bytes, at);
    out.push_back({static_cast<Ns>(begin), static_cast<Ns>(until)});
  }
  return out;
}

}  // namespace gapscope
