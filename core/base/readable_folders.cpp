#include "core/base/readable_folders.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"

namespace gapscope {
namespace fs = std::filesystem;

struct ReadableFolders::Folder {
  Folder(int opened, fs::path name, bool by_name) : real(std::move(name)), by_name_(by_name), opened_{opened} {}
  ~Folder() {
    for (const int fd : opened_) ::close(fd);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  // Where a folder that this process got by its name was removed and made again, that one; a link in its place is never
  // followed.
  int fd() const;

  const fs::path real;

 private:
  static constexpr std::size_t kMostOpened = 64;
  const bool by_name_;
  mutable std::mutex mutex_;
  mutable std::vector<int> opened_;  // the last is in use; a child may be about to inherit the others
};

namespace {

// No pipe is waited for, and no terminal taken. With O_PATH openat2(2) takes neither, and nothing is opened.
int in_full(int flags) { return flags | O_CLOEXEC | ((flags & O_PATH) != 0 ? 0 : O_NONBLOCK | O_NOCTTY); }

// Where the system has openat2(2): 0 links are followed, and nothing leads out. -1 with ENOSYS where it has not.
int open_below(int folder, const char* path, int flags) {
#ifdef SYS_openat2
  struct {
    std::uint64_t flags, mode, resolve;
  } how{static_cast<std::uint64_t>(in_full(flags)), 0, 0x08 | 0x04 | 0x02};  // RESOLVE_BENEATH, _NO_SYMLINKS, _NO_MAGICLINKS
  return static_cast<int>(::syscall(SYS_openat2, folder, path, &how, sizeof how));
#else
  (void)folder, (void)path, (void)flags;
  errno = ENOSYS;
  return -1;
#endif
}

// What an open file or folder is called now, without links.
fs::path name_of(int fd) {
  std::error_code ignored;
  return fs::read_symlink(fmt::format("/proc/self/fd/{}", fd), ignored);
}

bool is_folder(int fd) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 && S_ISDIR(info.st_mode);
}

std::shared_ptr<const ReadableFolders>& confined_to() {
  static std::shared_ptr<const ReadableFolders> folders;
  return folders;
}

}  // namespace

int ReadableFolders::Folder::fd() const {
  const std::lock_guard lock(mutex_);
  struct stat held {
  }, named{};
  const bool is_another = by_name_ && ::lstat(real.c_str(), &named) == 0 && S_ISDIR(named.st_mode) &&
                          ::fstat(opened_.back(), &held) == 0 && (held.st_dev != named.st_dev || held.st_ino != named.st_ino);
  if (is_another && opened_.size() < kMostOpened) {
    const int fd = open_as_named(AT_FDCWD, real, O_PATH | O_DIRECTORY);
    if (fd >= 0) opened_.push_back(fd);
  }
  return opened_.back();
}

Result<ReadableFolders> ReadableFolders::make(const std::vector<std::string>& folders) {
  ReadableFolders out;
  for (const std::string& folder : folders) {
    std::error_code trouble;
    const fs::path real = fs::canonical(folder, trouble);
    const int fd = trouble ? -1 : open_as_named(AT_FDCWD, real, O_PATH | O_DIRECTORY);
    if (fd < 0) return Error{fmt::format("{} is not a readable folder.", printable(folder))};
    out.folders_.push_back(std::make_shared<const Folder>(fd, real, true));
  }
  return out;
}

Result<ReadableFolders> ReadableFolders::of_descriptors(const std::vector<int>& descriptors) {
  ReadableFolders out;
  for (const int fd : descriptors) {
    const fs::path real = name_of(fd);
    if (!is_folder(fd) || !real.is_absolute()) return Error{fmt::format("Descriptor {} is not a folder.", fd)};
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    out.folders_.push_back(std::make_shared<const Folder>(fd, real, false));
  }
  return out;
}

const ReadableFolders::Folder* ReadableFolders::folder_of(const fs::path& real) const {
  const auto found = std::find_if(folders_.begin(), folders_.end(), [&](const auto& folder) {
    const auto [end, ignored] = std::mismatch(folder->real.begin(), folder->real.end(), real.begin(), real.end());
    return end == folder->real.end();
  });
  return found != folders_.end() ? found->get() : nullptr;
}

bool ReadableFolders::holds(const fs::path& real) const { return folder_of(real) != nullptr; }

int ReadableFolders::open(const std::string& path, int flags) const {
  std::error_code trouble;
  const fs::path real = fs::canonical(path, trouble);
  const Folder* folder = trouble ? nullptr : folder_of(real);
  if (folder == nullptr) {
    errno = trouble ? trouble.value() : EACCES;
    return -1;
  }
  const fs::path below = real.lexically_relative(folder->real);
  const int from = folder->fd();
  const int fd = open_below(from, below.c_str(), flags);
  const bool cannot = fd < 0 && (errno == ENOSYS || errno == EPERM);  // EPERM: where calls are filtered
  return cannot ? open_as_named(from, below, flags) : fd;
}

std::vector<fs::path> ReadableFolders::paths() const {
  std::vector<fs::path> out;
  for (const auto& folder : folders_) out.push_back(folder->real);
  return out;
}

std::vector<int> ReadableFolders::descriptors() const {
  std::vector<int> out;
  for (const auto& folder : folders_) out.push_back(folder->fd());
  return out;
}

int open_as_named(int folder, const fs::path& path, int flags) {
  const int fd = ::openat(folder, path.c_str(), in_full(flags | O_NOFOLLOW));
  const fs::path wanted = folder == AT_FDCWD ? path : path == "." ? name_of(folder) : name_of(folder) / path;
  if (fd < 0 || name_of(fd) == wanted) return fd;
  ::close(fd);
  errno = EXDEV;
  return -1;
}

void confine_reading(std::shared_ptr<const ReadableFolders> folders) { confined_to() = std::move(folders); }
bool is_reading_confined() { return confined_to() != nullptr; }

int open_to_read(const std::string& path, int flags) {
  const auto& confined = confined_to();
  return confined ? confined->open(path, flags) : ::open(path.c_str(), in_full(flags));
}

std::pair<std::string, std::string> split_member_path(const std::string& path) {
  for (std::size_t at = path.rfind('/'); at != path.npos && at > 0; at = path.rfind('/', at - 1)) {
    const int fd = open_to_read(path.substr(0, at), O_PATH);
    if (fd < 0 && errno == ENOTDIR) continue;
    struct stat info {};
    const bool is_file = fd >= 0 && ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    if (fd >= 0) ::close(fd);
    const std::string member = path.substr(at + 1);
    const fs::path parts(member);
    const bool leads_out = std::find(parts.begin(), parts.end(), "..") != parts.end();
    if (is_file && !leads_out) return {path.substr(0, at), member};
    break;
  }
  return {path, {}};
}

namespace {
constexpr std::string_view kRankMark = "#rank";
}

std::pair<std::string, std::int32_t> split_rank_path(const std::string& path) {
  const std::size_t at = path.rfind(kRankMark);
  if (at == path.npos || at == 0) return {path, -1};
  std::int32_t rank = -1;
  const char* const end = path.data() + path.size();
  const auto [last, trouble] = std::from_chars(path.data() + at + kRankMark.size(), end, rank);
  if (trouble != std::errc() || last != end || rank < 0) return {path, -1};
  if (const int fd = open_to_read(path, O_PATH); fd >= 0) {
    ::close(fd);
    return {path, -1};
  }
  return {path.substr(0, at), rank};
}

std::string rank_path(const std::string& file, std::int32_t rank) {
  return file + std::string(kRankMark) + std::to_string(rank);
}

std::vector<std::string> names_in(const std::string& folder, std::error_code& trouble) {
  std::vector<std::string> out;
  const int fd = open_to_read(folder, O_RDONLY | O_DIRECTORY);
  struct Close {
    void operator()(DIR* opened) const { ::closedir(opened); }
  };
  const std::unique_ptr<DIR, Close> opened(fd < 0 ? nullptr : ::fdopendir(fd));
  trouble = opened ? std::error_code() : std::error_code(errno, std::generic_category());
  if (!opened && fd >= 0) ::close(fd);
  if (!opened) return out;
  errno = 0;
  while (const dirent* entry = ::readdir(opened.get())) {
    if (const std::string name = entry->d_name; name != "." && name != "..") out.push_back(name);
    errno = 0;  // what making room may have left there
  }
  if (errno != 0) trouble = std::error_code(errno, std::generic_category());
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace gapscope
