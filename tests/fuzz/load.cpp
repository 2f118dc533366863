// Any bytes: a load ends in a trace or a sentence, and one large batch gives the same as many tiny ones.
#include <cstdlib>
#include <string_view>

#include "core/load/load_trace.h"
#include "tests/support/dump_trace.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace gapscope;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  LoadOptions whole;
  whole.threads = 1;
  whole.batch_bytes = 64 * 1024;  // larger than the inputs; the default's megabytes would only cost time
  LoadOptions pieces;
  pieces.threads = 1;
  pieces.batch_bytes = 64;
  const auto a = load_trace_from_text(text, "fuzz", whole);
  const auto b = load_trace_from_text(text, "fuzz", pieces);
  if (a.ok() != b.ok()) std::abort();
  if (a.ok() && test::dump_trace(**a) != test::dump_trace(**b)) std::abort();
  return 0;
}
