#include "core/base/text.h"

#include <array>
#include <cmath>
#include <cstdio>

#include <fmt/format.h>

#include "core/base/hidden_character.h"

namespace gapscope {
namespace {

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Magnitude as an unsigned number; correct for the smallest Ns too.
std::uint64_t magnitude(Ns ns) { return ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns); }

std::string group_thousands(std::string digits) {
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

}  // namespace

std::string format_significant(double value) {
  const double size = std::fabs(value);
  if (size >= 99.95 || value == 0) return fmt::format("{:.0f}", value);
  if (size >= 9.995) return fmt::format("{:.1f}", value);
  return fmt::format("{:.2f}", value);
}

std::string format_duration(Ns ns) {
  const double size = static_cast<double>(magnitude(ns));
  const char* sign = ns < 0 ? "-" : "";
  if (size < 1e3) return fmt::format("{}{:.0f} ns", sign, size);
  // A value that rounds up to 1000 of a unit is written as 1.00 of the next.
  if (size < 999.5e3) return fmt::format("{}{} \xC2\xB5s", sign, format_significant(size / 1e3));
  if (size < 999.5e6) return fmt::format("{}{} ms", sign, format_significant(size / 1e6));
  if (size < 120e9) return fmt::format("{}{} s", sign, format_significant(size / 1e9));
  const std::uint64_t seconds = (magnitude(ns) + 500'000'000) / 1'000'000'000;
  if (seconds < 7200) return fmt::format("{}{} min {} s", sign, seconds / 60, seconds % 60);
  return fmt::format("{}{} h {} min", sign, seconds / 3600, seconds / 60 % 60);
}

std::string format_duration_exact(Ns ns) {
  const std::uint64_t size = magnitude(ns);
  return fmt::format("{}{}.{:03} \xC2\xB5s", ns < 0 ? "-" : "", group_thousands(std::to_string(size / 1000)), size % 1000);
}

std::string format_file_us(Ns ns) {
  const std::uint64_t size = magnitude(ns);
  return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", size / 1000, size % 1000);
}

std::string format_bytes(std::uint64_t bytes) {
  static constexpr std::array<const char*, 6> kUnits = {"B", "kB", "MB", "GB", "TB", "PB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{} {}", format_significant(value), kUnits[unit]);
}

std::string format_count(std::int64_t n) {
  const std::uint64_t size = n < 0 ? 0 - static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n);
  return (n < 0 ? "-" : "") + group_thousands(std::to_string(size));
}

std::string format_percent(double fraction) {
  if (!std::isfinite(fraction)) return "-";
  const double percent = fraction * 100;
  if (percent > 0 && percent < 0.05)
    return percent < 0.001 ? "<0.001 %" : fmt::format("{:.2g} %", percent);  // little is not nothing
  const std::string text = fmt::format("{:.1f} %", percent);
  return text == "-0.0 %" ? "0.0 %" : text;
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const FirstCharacter first = first_character(text);
    out += first.is_hidden ? "\xEF\xBF\xBD" : text.substr(0, first.bytes);
    text.remove_prefix(first.bytes);
  }
  return out;
}

std::size_t utf8_length(std::string_view text) {
  std::size_t n = 0;
  for (const char c : text) n += is_continuation(c) ? 0 : 1;
  return n;
}

std::string elide_middle(std::string_view text, std::size_t max_chars) {
  const std::size_t length = utf8_length(text);
  if (length <= max_chars) return std::string(text);
  if (max_chars == 0) return {};
  const std::size_t left = max_chars - 1;
  const std::size_t head_chars = (left + 1) / 2;
  const std::size_t tail_chars = left - head_chars;
  std::size_t head = 0;
  for (std::size_t n = 0; head < text.size(); ++head) {
    if (!is_continuation(text[head]) && n++ == head_chars) break;
  }
  std::size_t tail = text.size();
  for (std::size_t n = 0; n < tail_chars && tail > head;) {
    if (!is_continuation(text[--tail])) ++n;
  }
  return std::string(text.substr(0, head)) + "\xE2\x80\xA6" + std::string(text.substr(tail));
}

bool contains_ignore_case(std::string_view text, std::string_view needle) {
  if (needle.empty()) return true;
  for (std::size_t at = 0; at + needle.size() <= text.size(); ++at) {
    std::size_t n = 0;
    while (n < needle.size() && lower(text[at + n]) == lower(needle[n])) ++n;
    if (n == needle.size()) return true;
  }
  return false;
}

}  // namespace gapscope
