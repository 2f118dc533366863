#pragma once
// Which files may be opened: those under the folders that were named on the command line, whatever leads to them.
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace gapscope {

enum class Allowed { files, recordings };  // recordings: by the end of their names, and nothing hidden

class AllowedFolders {
 public:
  // An Error where one is no folder.
  static Result<AllowedFolders> make(const std::vector<std::string>& folders, Allowed allowed = Allowed::files);

  // The file itself, links followed: absolute, or below one of the folders. An Error where it is none, or lies elsewhere.
  Result<std::string> file(const std::string& path) const;
  // The same of a file, and of a folder every trace that lies in it: one at least.
  Result<std::vector<std::string>> files(const std::string& path) const;
  // Traces that lie there, at most `most`, in order; what links lead out to and what is hidden are none.
  std::vector<std::string> traces(std::size_t most) const;
  // The first folder, links followed.
  const std::filesystem::path& first() const { return folders_.front(); }

 private:
  bool is_allowed(const std::filesystem::path& asked, const std::filesystem::path& real) const;
  bool holds(const std::filesystem::path& file) const;
  std::vector<std::filesystem::path> places(const std::string& path) const;
  std::vector<std::filesystem::path> folders_;  // canonical
  Allowed allowed_ = Allowed::files;
};

}  // namespace gapscope
