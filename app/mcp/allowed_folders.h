#pragma once
// Which files may be opened: those under the folders that were named on the command line, whatever leads to them.
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace gapscope {

class AllowedFolders {
 public:
  // An Error where one is no folder.
  static Result<AllowedFolders> make(const std::vector<std::string>& folders);

  // The file itself, links followed: absolute, or below one of the folders. An Error where it is none, or lies elsewhere.
  Result<std::string> file(const std::string& path) const;
  // The same of a file, and of a folder every trace that lies in it: one at least.
  Result<std::vector<std::string>> files(const std::string& path) const;
  // Traces that lie there, at most `most`, in order.
  std::vector<std::string> traces(std::size_t most) const;

 private:
  bool holds(const std::filesystem::path& file) const;
  std::vector<std::filesystem::path> places(const std::string& path) const;
  std::vector<std::filesystem::path> folders_;  // canonical
};

}  // namespace gapscope
