#pragma once
// Times as a person writes them for --from and --to.
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/base/time.h"

namespace gapscope {

// "4367497539681444" is a time of the trace in nanoseconds, as `diagnose --json` and `info` print them; "1.2ms" (ns, us,
// ms, s) is so long after `origin`, as the ruler shows it. Digits beyond a nanosecond are dropped. nullopt: neither.
std::optional<Ns> parse_time_argument(std::string_view text, Ns origin);

// How --help says that, for both options.
constexpr const char* kTimeHelp =
    "nanoseconds as `info` and `diagnose --json` print them, or a time after the trace's start: 1.2ms (ns, us, ms, s)";

// The window that --from and --to name; empty texts represent the ends of `whole`. An Error, in the words of the options, when
// one is no time or the window is empty.
Result<Span> parse_window(const std::string& from, const std::string& to, Span whole);

}  // namespace gapscope
