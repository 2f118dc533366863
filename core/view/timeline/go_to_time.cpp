#include "core/view/timeline/go_to_time.h"

#include <optional>
#include <string>

#include "core/base/text.h"
#include "core/base/time_text.h"

namespace gapscope {

Result<Ns> parse_time_point(std::string_view text, Span trace) {
  std::optional<Ns> since_start = parse_duration(text);
  if (const std::optional<Ns> bare = parse_whole_ns(text)) since_start = *bare >= trace.begin ? *bare - trace.begin : *bare;
  if (!since_start) {
    return Error{std::string(text) + " is no time: write 12.5ms, 1.2 s or 830us from the start, or whole nanoseconds."};
  }
  if (*since_start > trace.length()) {
    return Error{std::string(text) + " is after the end of the trace, which is " + format_duration(trace.length()) + " long."};
  }
  return trace.begin + *since_start;
}

}  // namespace gapscope
