// Any bytes, as libFuzzer finds them: read whole, in small pieces and by seven threads they are the same trace;
// load/mutation_test does the same with what a fixed seed gives.
#include <cstdlib>

#include "tests/support/piecewise_load.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace gapscope::test;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string whole = outcome_of(load_in_pieces(text, 1, kOneBatch));
  if (whole != outcome_of(load_in_pieces(text, 1, 64)) || whole != outcome_of(load_in_pieces(text, 7, 64))) std::abort();
  return 0;
}
