#include "core/load/number_text.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/text.h"

namespace gapscope {
namespace {

std::string_view unquoted(std::string_view token, bool& was_text) {
  was_text = token.size() >= 2 && token.front() == '"' && token.back() == '"';
  return was_text ? token.substr(1, token.size() - 2) : token;
}

constexpr std::array<Ns, 10> kPowers = {1, 10, 100, 1'000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000, 1'000'000'000};

// mantissa * 10^exponent nanoseconds, rounded half away from zero. `tail_is_zero`: no non-zero digit was dropped.
ParsedTime scaled(std::uint64_t mantissa, int exponent, bool negative) {
  ParsedTime out{0, NumberState::ok, false};
  if (mantissa == 0) return out;
  constexpr std::uint64_t kLargest = static_cast<std::uint64_t>(std::numeric_limits<Ns>::max());
  for (; exponent > 0; --exponent) {
    if (mantissa > kLargest / 10) return {0, NumberState::too_large, false};
    mantissa *= 10;
  }
  if (exponent < 0) {
    std::uint64_t half_digit = 0;  // the last digit dropped decides the rounding: it is the most significant of them
    for (; exponent < 0; ++exponent) {
      half_digit = mantissa % 10;
      mantissa /= 10;
    }
    if (half_digit >= 5) ++mantissa;
  }
  if (mantissa > kLargest) return {0, NumberState::too_large, false};
  out.ns = negative ? -static_cast<Ns>(mantissa) : static_cast<Ns>(mantissa);
  return out;
}

// Digits, one point, an exponent: the general form.
ParsedTime parse_us_slow(std::string_view text) {
  if (is_non_finite(text)) return {0, NumberState::non_finite, false};
  std::size_t at = 0;
  const bool negative = at < text.size() && text[at] == '-';
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
  std::uint64_t mantissa = 0;
  int exponent = 3;  // microseconds to nanoseconds
  bool any = false;
  bool point = false;
  for (; at < text.size(); ++at) {
    if (text[at] == '.' && !point) {
      point = true;
    } else if (is_digit(text[at])) {
      any = true;
      if (mantissa < 100'000'000'000'000'000ULL * 10) {  // 18 digits are exact and all that can matter
        mantissa = mantissa * 10 + static_cast<std::uint64_t>(text[at] - '0');
        exponent -= point ? 1 : 0;
      } else {
        exponent += point ? 0 : 1;
      }
    } else {
      break;
    }
  }
  if (!any) return {};
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    int written = 0;
    std::string_view digits = text.substr(at + 1);
    if (!digits.empty() && digits.front() == '+') digits.remove_prefix(1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), written);
    if (error == std::errc::result_out_of_range)
      return {0, mantissa == 0 || digits.front() == '-' ? NumberState::ok : NumberState::too_large, false};
    if (error != std::errc{} || end != digits.data() + digits.size()) return {};
    if (written > 400) return {0, mantissa == 0 ? NumberState::ok : NumberState::too_large, false};
    if (written < -400) return {0, NumberState::ok, false};
    exponent += written;
  } else if (at != text.size()) {
    return {};
  }
  return scaled(mantissa, exponent, negative);
}

}  // namespace

bool is_non_finite(std::string_view text) {
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  return text == "NaN" || text == "nan" || text == "Infinity" || text == "inf" || text == "Inf" || text == "N/A" ||
         text == "INF";
}

namespace {

// Nearly every "ts" and "dur": up to 15 digits, a point, three digits.
bool parse_plain_us(std::string_view token, const char* limit, Ns& ns) {
  if (token.size() < 5 || token.size() > 19 || token[token.size() - 4] != '.') return false;
  const char* const point = token.data() + token.size() - 4;
  if (!is_digit(point[1]) || !is_digit(point[2]) || !is_digit(point[3])) return false;
  std::uint64_t whole = 0;
  if (!parse_digits(token.substr(0, token.size() - 4), limit, whole)) return false;
  ns = static_cast<Ns>(whole) * kNsPerUs + (point[1] - '0') * 100 + (point[2] - '0') * 10 + (point[3] - '0');
  return true;
}

}  // namespace

ParsedTime parse_us(std::string_view token, const char* limit) {
  if (Ns ns = 0; parse_plain_us(token, limit, ns)) return {ns, NumberState::ok, false};
  // Fewer decimals, or none.
  std::uint64_t value = 0;
  std::size_t at = 0;
  while (at < token.size() && at < 16 && is_digit(token[at]))
    value = value * 10 + static_cast<std::uint64_t>(token[at++] - '0');
  if (at > 0 && at < 16) {
    if (at == token.size()) return {static_cast<Ns>(value) * kNsPerUs, NumberState::ok, false};
    const std::size_t decimals = token.size() - at - 1;
    if (token[at] == '.' && decimals >= 1 && decimals <= 3) {
      std::uint64_t fraction = 0;
      bool digits = true;
      for (std::size_t i = at + 1; i < token.size(); ++i) {
        digits = digits && is_digit(token[i]);
        fraction = fraction * 10 + static_cast<std::uint64_t>(token[i] - '0');
      }
      if (digits)
        return {static_cast<Ns>(value) * kNsPerUs + static_cast<Ns>(fraction) * kPowers[3 - decimals], NumberState::ok, false};
    }
  }
  bool was_text = false;
  ParsedTime out = parse_us_slow(unquoted(token, was_text));
  out.was_text = was_text;
  return out;
}

std::optional<double> parse_double(std::string_view token) {
  bool was_text = false;
  const std::string_view text = unquoted(token, was_text);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

namespace {

template <class Integer>
std::optional<Integer> parse_whole(std::string_view token) {
  // Nearly all ids and sizes: a few plain digits.
  Integer quick = 0;
  std::size_t at = 0;
  while (at < token.size() && at < 18 && is_digit(token[at]))
    quick = static_cast<Integer>(quick * 10 + static_cast<Integer>(token[at++] - '0'));
  if (at == token.size() && at > 0) return quick;
  bool was_text = false;
  const std::string_view text = unquoted(token, was_text);
  Integer value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size()) return value;
  const std::optional<double> real = parse_double(token);
  constexpr double kLimit = std::is_signed_v<Integer> ? 0x1p63 : 0x1p64;
  if (!real || *real >= kLimit || *real < (std::is_signed_v<Integer> ? -0x1p63 : 0.0)) return std::nullopt;
  return static_cast<Integer>(*real);
}

}  // namespace

std::optional<std::int64_t> parse_integer(std::string_view token) { return parse_whole<std::int64_t>(token); }
std::optional<std::uint64_t> parse_unsigned(std::string_view token) { return parse_whole<std::uint64_t>(token); }

}  // namespace gapscope
