#pragma once
// Short ways to load JSON text in tests.
#include <memory>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "core/load/load_trace.h"

namespace gapscope::test {

inline std::shared_ptr<const Trace> load_text(std::string_view text, int threads = 1, std::size_t batch_bytes = 0) {
  LoadOptions options;
  options.threads = threads;
  options.batch_bytes = batch_bytes;
  auto result = load_trace_from_text(text, "text", options);
  REQUIRE_MESSAGE(result.ok(), (result.ok() ? "" : result.error().message));
  return *result;
}

inline std::string load_error(std::string_view text) {
  auto result = load_trace_from_text(text, "x.json");
  REQUIRE(!result.ok());
  return result.error().message;
}

// {"traceEvents": [ ... ]}
inline std::string events(std::string_view inside) { return "{\"traceEvents\": [" + std::string(inside) + "]}"; }

// One X event.
inline std::string slice(std::string_view name, std::string_view ts, std::string_view dur, std::string_view more = "",
                         std::string_view cat = "cpu_op", std::string_view tid = "1") {
  return "{\"ph\": \"X\", \"cat\": \"" + std::string(cat) + "\", \"name\": \"" + std::string(name) +
         "\", \"pid\": 7, \"tid\": " + std::string(tid) + ", \"ts\": " + std::string(ts) + ", \"dur\": " + std::string(dur) +
         std::string(more) + "}";
}

}  // namespace gapscope::test
