#pragma once
// Short ways to load JSON text in tests.
#include <memory>
#include <string>
#include <string_view>

#include "core/load/load_trace.h"

namespace gapscope::test {

std::shared_ptr<const Trace> load_text(std::string_view text, int threads = 1, std::size_t batch_bytes = 0);

std::string load_error(std::string_view text);

// {"traceEvents": [ ... ]}
std::string events(std::string_view inside);

// One X event.
std::string slice(std::string_view name, std::string_view ts, std::string_view dur, std::string_view more = "",
                  std::string_view cat = "cpu_op", std::string_view tid = "1");

}  // namespace gapscope::test
