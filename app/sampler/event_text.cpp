#include "app/sampler/event_text.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <nlohmann/json.hpp>

namespace gapscope::sampler {
namespace {

// Length of a well-formed UTF-8 sequence at the front, 0 where there is none (RFC 3629).
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool overlong = first == 0xE0 && byte(1) < 0xA0, surrogate = first == 0xED && byte(1) > 0x9F;
    return follows(1) && follows(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (first < 0xF0 || first > 0xF4) return 0;
  const bool overlong = first == 0xF0 && byte(1) < 0x90, beyond = first == 0xF4 && byte(1) > 0x8F;
  return follows(1) && follows(2) && follows(3) && !overlong && !beyond ? 4 : 0;
}

void append_control(std::string& out, unsigned char c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += "\\u00";
  out += kHex[c >> 4];
  out += kHex[c & 15];
}

}  // namespace

void append_float(std::string& out, float value) {
  if (!std::isfinite(value)) {
    out += '0';
    return;
  }
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out.append(digits, end);
}

Ns minus(Ns a, Ns b) {
  Ns result = 0;
  if (!__builtin_sub_overflow(a, b, &result)) return result;
  return a < 0 ? std::numeric_limits<Ns>::min() : std::numeric_limits<Ns>::max();
}

void append_us(std::string& out, Ns ns) {
  ns = std::max<Ns>(ns, 0);
  append_int(out, ns / 1000);
  const int rest = static_cast<int>(ns % 1000);
  out += '.';
  out += static_cast<char>('0' + rest / 100);
  out += static_cast<char>('0' + rest / 10 % 10);
  out += static_cast<char>('0' + rest % 10);
}

void append_key(std::string& out, std::string_view key) {
  out += ", \"";
  out += key;
  out += "\": ";
}

// The library takes a zero byte for the end.
bool is_json_line(std::string_view text) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20; };
  return std::none_of(text.begin(), text.end(), is_control) && nlohmann::json::accept(text);
}

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const auto c = static_cast<unsigned char>(text[0]);
    std::size_t length = utf8_length(text);
    if (length == 0) {
      out += "\xEF\xBF\xBD";  // U+FFFD: what is no UTF-8 must not make the file invalid
      length = 1;
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c < 0x20) {
      append_control(out, c);
    } else {
      out.append(text.substr(0, length));
    }
    text.remove_prefix(length);
  }
  out += '"';
}

}  // namespace gapscope::sampler
