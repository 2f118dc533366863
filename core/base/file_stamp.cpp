#include "core/base/file_stamp.h"

#include <sys/stat.h>

#include "core/base/time.h"

namespace gapscope {

std::optional<FileStamp> stamp_of(const std::string& path) {
  struct stat info {};
  if (path == "-" || ::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  return FileStamp{info.st_mtim.tv_sec * kNsPerS + info.st_mtim.tv_nsec, static_cast<std::uint64_t>(info.st_size), info.st_ino};
}

}  // namespace gapscope
