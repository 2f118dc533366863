#pragma once
// Folders below which files may be opened, whatever leads to them: links are followed first, and what is then opened is what
// was looked at, also while another process puts a link in a folder's place.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace gapscope {

class ReadableFolders {
 public:
  ReadableFolders() = default;  // of no folder: every path is refused
  // An Error where one is no folder.
  static Result<ReadableFolders> make(const std::vector<std::string>& folders);
  // Of folders that another process has opened, which this one inherited. It takes the descriptors over.
  static Result<ReadableFolders> of_descriptors(const std::vector<int>& descriptors);

  // Whether a path without links in it is below one of them, or is one.
  bool holds(const std::filesystem::path& real) const;
  // As open(2), with O_CLOEXEC, O_NONBLOCK and O_NOCTTY, of what is below one of them: -1, with errno, of everything else.
  int open(const std::string& path, int flags) const;

  std::vector<std::filesystem::path> paths() const;  // without links in them
  std::vector<int> descriptors() const;              // closed when the last copy goes

 private:
  struct Folder;
  const Folder* folder_of(const std::filesystem::path& real) const;
  std::vector<std::shared_ptr<const Folder>> folders_;
};

// Where the system cannot open below a folder: opens a path without links in it, from an open folder on (or AT_FDCWD), and
// closes it again where it has led elsewhere.
int open_as_named(int folder, const std::filesystem::path& path, int flags);

// From now on this process reads traces and lists folders below these alone, as a server does, and whatever that starts. To be
// said before anything is read. Null: anywhere.
void confine_reading(std::shared_ptr<const ReadableFolders> folders);
bool is_reading_confined();

// As open(2), for reading, within that. `flags` as O_DIRECTORY; a pipe or a device is not waited for.
int open_to_read(const std::string& path, int flags = 0);
// "runs.zip/rank0.json", which is in an archive, as "runs.zip" and "rank0.json" where "runs.zip" is a file. The name is empty
// for every other path.
std::pair<std::string, std::string> split_member_path(const std::string& path);
// "run.json#rank1" -> {"run.json", 1}: one of the ranks that were merged into a file; {path, -1} where it is a file's own name.
std::pair<std::string, std::int32_t> split_rank_path(const std::string& path);
std::string rank_path(const std::string& file, std::int32_t rank);
// The names in a folder, in order, within that.
std::vector<std::string> names_in(const std::string& folder, std::error_code& trouble);

}  // namespace gapscope
