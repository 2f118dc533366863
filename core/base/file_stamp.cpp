#include "core/base/file_stamp.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/readable_folders.h"
#include "core/base/time.h"

namespace gapscope {

std::optional<FileStamp> stamp_of(const std::string& asked) {
  const std::string path = split_rank_path(asked).first;
  struct stat info {};
  int fd = path == "-" ? -1 : open_to_read(path, O_PATH);  // which asks for no right to read it
  if (fd < 0 && path != "-")
    if (const auto [archive, member] = split_member_path(path); !member.empty()) fd = open_to_read(archive, O_PATH);
  if (fd < 0) return std::nullopt;
  const bool is_file = ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  ::close(fd);
  if (!is_file) return std::nullopt;
  return FileStamp{info.st_mtim.tv_sec * kNsPerS + info.st_mtim.tv_nsec, static_cast<std::uint64_t>(info.st_size), info.st_ino};
}

}  // namespace gapscope
