#include "core/load/json_text.h"

#include <algorithm>
#include <cstdint>

namespace gapscope {
namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool parse_hex4(std::string_view text, std::size_t at, std::uint32_t& code) {
  if (at + 4 > text.size()) return false;
  code = 0;
  for (std::size_t i = at; i < at + 4; ++i) {
    const int digit = hex_value(text[i]);
    if (digit < 0) return false;
    code = code * 16 + static_cast<std::uint32_t>(digit);
  }
  return true;
}

void append_utf8(std::uint32_t code, std::string& out) {
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | (code >> 6));
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | (code >> 12));
    put(0x80 | ((code >> 6) & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | (code >> 18));
    put(0x80 | ((code >> 12) & 0x3F));
    put(0x80 | ((code >> 6) & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

// The code point of the \u escape whose hex digits start at `at`; moves `at` behind it. Lone surrogates become U+FFFD.
bool take_unicode_escape(std::string_view text, std::size_t& at, std::uint32_t& code) {
  if (!parse_hex4(text, at, code)) return false;
  at += 4;
  if (code < 0xD800 || code > 0xDFFF) return true;
  std::uint32_t low = 0;
  const bool pair = code < 0xDC00 && at + 6 <= text.size() && text[at] == '\\' && text[at + 1] == 'u' &&
                    parse_hex4(text, at + 2, low) && low >= 0xDC00 && low <= 0xDFFF;
  if (!pair) {
    code = 0xFFFD;
    return true;
  }
  at += 6;
  code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  return true;
}

}  // namespace

bool unescape(std::string_view content, std::string& out) {
  out.clear();
  for (std::size_t i = 0; i < content.size();) {
    if (content[i] != '\\') {
      const std::size_t next = std::min(content.find('\\', i), content.size());
      out.append(content, i, next - i);
      i = next;
      continue;
    }
    if (i + 1 == content.size()) return false;
    const char c = content[i + 1];
    i += 2;
    switch (c) {
      case '"':
      case '\\':
      case '/': out += c; break;
      case 'b': out += '\b'; break;
      case 'f': out += '\f'; break;
      case 'n': out += '\n'; break;
      case 'r': out += '\r'; break;
      case 't': out += '\t'; break;
      case 'u': {
        std::uint32_t code = 0;
        if (!take_unicode_escape(content, i, code)) return false;
        append_utf8(code, out);
        break;
      }
      default: return false;
    }
  }
  return true;
}

}  // namespace gapscope
