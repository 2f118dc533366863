#include "core/base/time_text.h"

#include <array>
#include <limits>
#include <string>
#include <utility>

#include "core/base/text.h"

namespace gapscope {
namespace {

constexpr Ns kMost = std::numeric_limits<Ns>::max();

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Nanoseconds in one of `unit`; 0 where it is none. The micro sign and the Greek letter look the same.
Ns unit_ns(std::string_view unit) {
  std::string small;
  for (const char c : unit) small += lower(c);
  constexpr std::array<std::pair<std::string_view, Ns>, 6> kUnits = {
      {{"ns", 1}, {"us", kNsPerUs}, {"\xC2\xB5s", kNsPerUs}, {"\xCE\xBCs", kNsPerUs}, {"ms", kNsPerMs}, {"s", kNsPerS}}};
  for (const auto& [name, ns] : kUnits) {
    if (small == name) return ns;
  }
  return 0;
}

}  // namespace

std::optional<Ns> parse_duration(std::string_view text) {
  text = trimmed(text);
  std::size_t end = 0;
  while (end < text.size() && (is_digit(text[end]) || text[end] == '.' || text[end] == ',')) ++end;
  Ns place = unit_ns(trimmed(text.substr(end)));
  const std::size_t dot = std::min(text.substr(0, end).find('.'), end);
  std::optional<Ns> whole = parse_whole_ns(text.substr(0, dot));
  const std::string_view rest = dot < end ? text.substr(dot + 1, end - dot - 1) : std::string_view{};
  if (place == 0 || (!whole && (dot != 0 || rest.empty()))) return std::nullopt;
  if (whole.value_or(0) > kMost / place) return std::nullopt;
  Ns ns = whole.value_or(0) * place;
  for (const char c : rest) {
    if (!is_digit(c)) return std::nullopt;
    place /= 10;
    if (ns > kMost - (c - '0') * place) return std::nullopt;
    ns += (c - '0') * place;
  }
  return ns;
}

std::optional<Ns> parse_whole_ns(std::string_view text) {
  text = trimmed(text);
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  Ns ns = 0;
  for (const char c : text) {
    if (c == ',') continue;
    if (!is_digit(c) || ns > (kMost - (c - '0')) / 10) return std::nullopt;
    ns = ns * 10 + (c - '0');
  }
  return ns;
}

}  // namespace gapscope
