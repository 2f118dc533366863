#include "app/state/recent_files.h"

#include <algorithm>

namespace gapscope {

void remember_file(std::vector<std::string>& recent, const std::string& path) {
  if (path.empty() || path == "-") return;
  std::erase(recent, path);
  recent.insert(recent.begin(), path);
  if (recent.size() > kMaxRecentFiles) recent.resize(kMaxRecentFiles);
}

}  // namespace gapscope
