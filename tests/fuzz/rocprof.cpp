// Any bytes as what rocprofv3 writes: see check_translation.h.
#include "core/load/rocprof.h"
#include "tests/support/check_translation.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace gapscope;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (is_rocprof(bytes)) test::check_translation(bytes, make_rocprof_source);
  return 0;
}
