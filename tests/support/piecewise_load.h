#pragma once
// Any bytes: a load ends in a trace or a sentence, and one large batch gives the same as many tiny ones on any number of
// threads.
#include <string>
#include <string_view>

#include "core/load/load_trace.h"
#include "tests/support/dump_trace.h"

namespace gapscope::test {

inline Result<std::shared_ptr<const Trace>> load_in_pieces(std::string_view text, int threads, std::size_t batch_bytes) {
  LoadOptions options;
  options.threads = threads;
  options.batch_bytes = batch_bytes;
  return load_trace_from_text(text, "mutant", options);
}

// What the load came to, to be compared: the whole trace, or only that there is none, since a sentence quotes as much of a
// broken head as was read.
inline std::string outcome_of(const Result<std::shared_ptr<const Trace>>& load) {
  return load.ok() ? dump_trace(**load) : "error";
}

// In one piece: larger than any mutant; the default's megabyte would only cost time.
constexpr std::size_t kOneBatch = 64 * 1024;

}  // namespace gapscope::test
