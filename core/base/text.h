#pragma once
// Numbers and names as people read them. Pure functions; the decimal point is always '.'.
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/time.h"

namespace gapscope {

// "0 ns", "812 ns", "12.3 µs", "1.21 ms", "2.05 s", "3 min 20 s": three significant digits, for reading.
std::string format_duration(Ns ns);
// "1,234.567 µs": every nanosecond, for hovering and copying.
std::string format_duration_exact(Ns ns);
// Decimal microseconds as a trace file writes them: "4367497539681.444".
std::string format_file_us(Ns ns);
// "0 B", "49.2 kB", "1.50 GB" (powers of 1000).
std::string format_bytes(std::uint64_t bytes);
// "4,460,123".
std::string format_count(std::int64_t n);
// 0.1234 -> "12.3 %"; never "-0.0 %".
std::string format_percent(double fraction);

// Three significant digits without a unit: 1234 -> "1,230" is not wanted, so 1234 -> "1234", 12.34 -> "12.3".
std::string format_significant(double value);

// Replaces control characters (and DEL) by U+FFFD, so that a name from a trace cannot steer a terminal.
std::string printable(std::string_view text);

// Cuts `text` to at most `max_chars` code points with one ellipsis in the middle; UTF-8 safe.
std::string elide_middle(std::string_view text, std::size_t max_chars);

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Length in code points; a stray continuation byte counts as nothing.
std::size_t utf8_length(std::string_view text);

// True when `needle` occurs in `text`, ASCII letters compared without case.
bool contains_ignore_case(std::string_view text, std::string_view needle);

}  // namespace gapscope
