#pragma once
// The recordings outside the repo that real-file tests walk over. Where they are missing such tests say so and pass.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "tests/support/source_folder.h"

namespace gapscope::test {

inline std::filesystem::path shared_folder() { return source_folder().parent_path() / "shared"; }

inline bool has_shared(const char* test) {
  if (std::filesystem::exists(shared_folder() / "traces")) return true;
  std::cout << "SKIPPED: " << test << " needs ../shared/traces, which is not here.\n";
  return false;
}

inline std::vector<std::filesystem::path> traces_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".json.gz") || name.ends_with(".json.xz")) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

inline std::vector<std::filesystem::path> real_traces() {
  auto all = traces_in(shared_folder() / "traces");
  const auto more = traces_in(shared_folder() / "traces" / "public");
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace gapscope::test
