#pragma once
// Times as people type them: "12.5ms", "1.2 s", "830us", "830 µs", "1,234.567 us". Digits are read exactly, never through a
// double.
#include <optional>
#include <string_view>

#include "core/base/time.h"

namespace gapscope {

// A length of time of at least 0 with its unit (ns, us, µs, ms or s, whatever the case); what is finer than a nanosecond is cut
// off. None where there is no unit, or anything else.
std::optional<Ns> parse_duration(std::string_view text);
// A whole number without a unit; commas between digits do not count.
std::optional<Ns> parse_whole_ns(std::string_view text);

}  // namespace gapscope
