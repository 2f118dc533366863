#include "app/serve/served_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "core/base/readable_folders.h"
#include "core/base/time.h"

namespace gapscope {
namespace {

std::optional<FileStamp> stamp_of_open(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return {};
  return FileStamp{info.st_mtim.tv_sec * kNsPerS + info.st_mtim.tv_nsec, static_cast<std::uint64_t>(info.st_size), info.st_ino};
}

}  // namespace

std::shared_ptr<const ServedFile> ServedFile::of(int fd) {
  const auto stamp = stamp_of_open(fd);
  std::shared_ptr<const ServedFile> file(new ServedFile(fd, stamp.value_or(FileStamp{})));
  return stamp ? file : nullptr;
}

std::shared_ptr<const ServedFile> ServedFile::open(const std::string& path) {
  const int fd = open_as_named(AT_FDCWD, path, O_RDONLY);
  return fd < 0 ? nullptr : of(fd);
}

ServedFile::~ServedFile() { ::close(fd_); }

std::string ServedFile::etag() const { return fmt::format("\"{:x}-{:x}\"", stamp_.bytes, stamp_.modified_ns); }

std::string ServedFile::read(std::uint64_t offset, std::uint64_t bytes) const {
  constexpr std::uint64_t kPiece = std::uint64_t{256} << 10;
  std::string out(static_cast<std::size_t>(std::min(bytes, kPiece)), '\0');
  ssize_t got = 0;
  do {
    got = ::pread(fd_, out.data(), out.size(), static_cast<off_t>(offset));
  } while (got < 0 && errno == EINTR);
  out.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  if (stamp_of_open(fd_) != stamp_) out.clear();
  return out;
}

}  // namespace gapscope
