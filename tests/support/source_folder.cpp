#include "tests/support/source_folder.h"

namespace gapscope::test {

std::filesystem::path source_folder() { return GAPSCOPE_SOURCE_DIR; }

}  // namespace gapscope::test
