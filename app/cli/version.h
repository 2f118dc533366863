#pragma once
#include <string>

namespace gapscope {

extern const char* const kVersion;  // "0.2.0"
extern const char* const kCommit;   // made at each build by app/cli/commit.cmake

// What `gapscope --version` prints: the version, the commit that was built, and what was built in.
std::string version_text();

}  // namespace gapscope
