#include "tests/support/load_text.h"

#include <doctest/doctest.h>

namespace gapscope::test {

std::shared_ptr<const Trace> load_text(std::string_view text, int threads, std::size_t batch_bytes) {
  LoadOptions options;
  options.threads = threads;
  options.batch_bytes = batch_bytes;
  auto result = load_trace_from_text(text, "text", options);
  REQUIRE_MESSAGE(result.ok(), (result.ok() ? "" : result.error().message));
  return *result;
}

std::string load_error(std::string_view text) {
  auto result = load_trace_from_text(text, "x.json");
  REQUIRE(!result.ok());
  return result.error().message;
}

std::string events(std::string_view inside) { return "{\"traceEvents\": [" + std::string(inside) + "]}"; }

std::string slice(std::string_view name, std::string_view ts, std::string_view dur, std::string_view more, std::string_view cat,
                  std::string_view tid) {
  return "{\"ph\": \"X\", \"cat\": \"" + std::string(cat) + "\", \"name\": \"" + std::string(name) +
         "\", \"pid\": 7, \"tid\": " + std::string(tid) + ", \"ts\": " + std::string(ts) + ", \"dur\": " + std::string(dur) +
         std::string(more) + "}";
}

}  // namespace gapscope::test
