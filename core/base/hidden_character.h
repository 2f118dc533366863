#pragma once
// Characters that cannot be seen and change how a terminal or an editor shows the rest: control characters, which steer it,
// those that turn the direction of writing (U+202E) or break lines (U+2028), and those that are nothing at all (U+200B), by
// which two names differ that look the same. Joiners (U+200C, U+200D) are not among them: words and emoji are written with
// them.
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gapscope {

struct FirstCharacter {
  std::size_t bytes = 1;
  std::uint32_t code = 0xFFFD;
  bool is_hidden = true;
};

constexpr bool is_hidden(std::uint32_t code) {
  const auto within = [&](std::uint32_t first, std::uint32_t last) { return first <= code && code <= last; };
  return code < 0x20 || within(0x7F, 0x9F) ||  // some terminals obey U+0080 to U+009F
         code == 0xAD || code == 0x61C || code == 0x180E || code == 0x200B || within(0x200E, 0x200F) ||
         within(0x2028, 0x202E) || within(0x2060, 0x206F) || code == 0xFEFF || within(0xFFF9, 0xFFFB) ||
         within(0xE0000, 0xE007F);
}

// What `text` begins with, which is not empty. A byte that is no part of UTF-8 (RFC 3629) is hidden: a terminal that reads
// another encoding may obey it.
constexpr FirstCharacter first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return {1, first, is_hidden(first)};
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4) return {};
  std::uint32_t code = first & (0xFFu >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3F);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[bytes] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return {};
  return {bytes, code, is_hidden(code)};
}

}  // namespace gapscope
