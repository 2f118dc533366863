#pragma once
// Where this source tree is: the tests read fixtures and bundled recordings from it.
#include <filesystem>

namespace gapscope::test {

std::filesystem::path source_folder();

}  // namespace gapscope::test
