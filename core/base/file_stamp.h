#pragma once
// What distinguishes two states of a file on disk.
#include <cstdint>
#include <optional>
#include <string>

namespace gapscope {

struct FileStamp {
  std::int64_t modified_ns = 0;
  std::uint64_t bytes = 0;
  std::uint64_t inode = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};
// Of what is in an archive the archive's. None where there is no such regular file.
std::optional<FileStamp> stamp_of(const std::string& path);

}  // namespace gapscope
