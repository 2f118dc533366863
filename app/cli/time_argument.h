#pragma once
// Times as a person writes them for --from and --to.
#include <optional>
#include <string_view>

#include "core/base/time.h"

namespace gapscope {

// "4367497539681444" is a time of the trace in nanoseconds, as `diagnose --json` and `info` print them; "1.2ms" (ns, us,
// ms, s) is so long after `origin`, as the ruler shows it. Digits beyond a nanosecond are dropped. nullopt: neither.
std::optional<Ns> parse_time_argument(std::string_view text, Ns origin);

}  // namespace gapscope
