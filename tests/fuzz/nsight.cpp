// Any bytes as an SQLite export of Nsight Systems: see check_translation.h. Seeds have pages of 512 bytes.
#include "core/load/nsight_systems.h"
#include "core/load/sqlite_file.h"
#include "tests/support/check_translation.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace gapscope;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (is_sqlite(bytes)) test::check_translation(bytes, make_database_source);
  return 0;
}
