#pragma once
// Characters that cannot be seen and change how a terminal or an editor shows the rest: control characters, which steer it, and
// those that turn the direction of writing (U+202E), break lines (U+2028) or are nothing at all (U+200B).
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gapscope {

struct HiddenCharacter {
  std::size_t bytes = 0;  // 0: there is none
  std::uint32_t code = 0;
};

// The one that `text` begins with.
constexpr HiddenCharacter hidden_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const std::uint32_t a = byte(0), b = byte(1), c = byte(2);
  if (text.empty()) return {};
  if (a < 0x20 || a == 0x7F) return {1, a};
  if (a == 0xC2 && b >= 0x80 && b < 0xA0) return {2, b};  // U+0080 to U+009F: some terminals obey them
  if (a == 0xD8 && b == 0x9C) return {2, 0x061C};         // Arabic letter mark
  if (a == 0xEF && b == 0xBB && c == 0xBF) return {3, 0xFEFF};
  if (a != 0xE2 || c < 0x80 || c >= 0xC0) return {};
  const std::uint32_t code = 0x2000 | (b & 0x3F) << 6 | (c & 0x3F);
  const bool turns = b == 0x80 || b == 0x81 ? code == 0x200B || code == 0x200E || code == 0x200F ||
                                                  (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069)
                                            : false;
  return turns ? HiddenCharacter{3, code} : HiddenCharacter{};
}

}  // namespace gapscope
