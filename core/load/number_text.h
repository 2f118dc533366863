#pragma once
// Numbers from the digits of a JSON token, exactly. A token is a scalar without surrounding space; quotes are allowed
// around a number because some writers put them there.
#include <cstdint>
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
  bool was_text = false;  // the number stood in quotes
};

// Decimal microseconds to nanoseconds, rounded to the nearest (half away from zero); exponents are understood.
ParsedTime parse_us(std::string_view token);

// Integers; a fraction is cut off. nullopt when the token is no number or does not fit.
std::optional<std::int64_t> parse_integer(std::string_view token);
std::optional<std::uint64_t> parse_unsigned(std::string_view token);
// Any number; nullopt for non-finite ones and anything else.
std::optional<double> parse_double(std::string_view token);

// True for a bare scalar that JSON does not know and writers use for a missing number: NaN, -Infinity, inf, N/A, nan.
bool is_non_finite(std::string_view token);

}  // namespace gapscope
