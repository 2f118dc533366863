#pragma once
// A typed point in time: with a unit ("12.5ms") it counts from the start of the trace; a bare number is a count of nanoseconds
// on the trace's own clock or, where it is before the trace begins, from its start.
#include <string_view>

#include "core/base/result.h"
#include "core/base/time.h"

namespace gapscope {

// Inside `trace`; otherwise a sentence.
Result<Ns> parse_time_point(std::string_view text, Span trace);

}  // namespace gapscope
