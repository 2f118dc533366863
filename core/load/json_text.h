#pragma once
// What a JSON string says, and what is between JSON's words.
#include <string>
#include <string_view>

namespace gapscope {

// JSON's white space (RFC 8259, 2).
constexpr bool is_json_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// The first place from `at` on that is none, or the end.
inline std::size_t skip_json_space(std::string_view text, std::size_t at) {
  while (at < text.size() && is_json_space(text[at])) ++at;
  return at;
}

// Resolves the escapes of a JSON string's content into `out`; false when an escape is invalid. Lone surrogates become U+FFFD.
bool unescape(std::string_view content, std::string& out);

}  // namespace gapscope
