#pragma once
// Numbers from the digits of a JSON token, exactly. A token is a scalar without surrounding space; quotes are allowed
// around a number because some writers put them there.
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "core/base/time.h"

namespace gapscope {

enum class NumberState : std::uint8_t {
  ok,
  absent,      // null, or no number at all
  non_finite,  // NaN, Infinity, inf, N/A
  too_large,   // does not fit
};

struct ParsedTime {
  Ns ns = 0;
  NumberState state = NumberState::absent;
  bool was_text = false;  // the number was in quotes
};

// Decimal microseconds to nanoseconds, rounded to the nearest (half away from zero); exponents are understood.
// `limit`: how far can be read, at least to the token's end.
ParsedTime parse_us(std::string_view token, const char* limit);
inline ParsedTime parse_us(std::string_view token) { return parse_us(token, token.data() + token.size()); }

// Integers; a fraction is cut off. nullopt when the token is no number or does not fit.
std::optional<std::int64_t> parse_integer(std::string_view token);
std::optional<std::uint64_t> parse_unsigned(std::string_view token);
// True for one to eight plain digits, which is what most ids are: read all at once where eight characters can be read before
// `limit`. False says nothing.
inline bool parse_few_digits(std::string_view token, const char* limit, std::uint64_t& value) {
  if (std::endian::native != std::endian::little || token.empty() || token.size() > 8 || limit - token.data() < 8) return false;
  std::uint64_t w = 0;
  std::memcpy(&w, token.data(), sizeof w);
  const auto lacking = static_cast<unsigned>(8 * (8 - token.size()));
  w = lacking == 0 ? w : (w << lacking) | (0x3030'3030'3030'3030u >> (64 - lacking));
  const std::uint64_t high_halves =
      (w & 0xF0F0'F0F0'F0F0'F0F0u) | (((w + 0x0606'0606'0606'0606u) & 0xF0F0'F0F0'F0F0'F0F0u) >> 4);
  if (high_halves != 0x3333'3333'3333'3333u) return false;
  // The well-known three multiplications: digits to pairs, pairs to fours, fours to eight.
  w = (w & 0x0F0F'0F0F'0F0F'0F0Fu) * 2561 >> 8;
  w = (w & 0x00FF'00FF'00FF'00FFu) * 6'553'601 >> 16;
  value = (w & 0x0000'FFFF'0000'FFFFu) * 42'949'672'960'001u >> 32;
  return true;
}
// The same for up to sixteen.
inline bool parse_digits(std::string_view token, const char* limit, std::uint64_t& value) {
  if (token.size() <= 8 || token.size() > 16) return parse_few_digits(token, limit, value);
  std::uint64_t high = 0, low = 0;
  if (!parse_few_digits(token.substr(0, token.size() - 8), limit, high) ||
      !parse_few_digits(token.substr(token.size() - 8), limit, low))
    return false;
  value = high * 100'000'000 + low;
  return true;
}
// Any number; nullopt for non-finite ones and anything else.
std::optional<double> parse_double(std::string_view token);

// True for a bare scalar that JSON does not know and writers use for a missing number: NaN, -Infinity, inf, N/A, nan.
bool is_non_finite(std::string_view token);

}  // namespace gapscope
