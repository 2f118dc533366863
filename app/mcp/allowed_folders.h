#pragma once
// Which files may be asked for: those under the folders that were named on the command line, whatever leads to them. What a
// client names is looked at here, and opened by ReadableFolders alone, here or in a command (app/mcp/child.h): between the two
// another process may put a link in a folder's place.
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/base/readable_folders.h"
#include "core/base/result.h"

namespace gapscope {

enum class Allowed { files, recordings };  // recordings: by the end of their names, and nothing hidden

struct AllowedFile {
  int fd = -1;       // open for reading, the caller's
  std::string path;  // without links
};

class AllowedFolders {
 public:
  // An Error where one is no folder.
  static Result<AllowedFolders> make(const std::vector<std::string>& folders, Allowed allowed = Allowed::files);

  // The file itself, links followed: absolute, or below one of the folders. An Error where it is none, or is elsewhere.
  Result<std::string> file(const std::string& path) const;
  Result<AllowedFile> open(const std::string& path) const;
  // The same of a file, and of a folder every trace that is in it: one at least.
  Result<std::vector<std::string>> files(const std::string& path) const;
  // Traces that lie there, at most `most`, in order; what links lead out to and what is hidden are none.
  std::vector<std::string> traces(std::size_t most) const;
  // The first folder, links followed.
  const std::filesystem::path& first() const { return folders_.front(); }
  // What opens files below them.
  const std::shared_ptr<const ReadableFolders>& readable() const { return readable_; }

 private:
  bool is_allowed(const std::filesystem::path& asked, const std::filesystem::path& real) const;
  std::vector<std::filesystem::path> places(const std::string& path) const;
  std::shared_ptr<const ReadableFolders> readable_;
  std::vector<std::filesystem::path> folders_;  // its own, without links
  Allowed allowed_ = Allowed::files;
};

}  // namespace gapscope
