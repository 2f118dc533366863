#include "core/load/spilled_text.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <fmt/format.h>

#include "core/base/text.h"

namespace gapscope {
namespace {

constexpr std::uint64_t kLookEvery = std::uint64_t{64} << 20;  // bytes between two looks at how much is free

// A file without a name: by the flag where the file system knows it, else by taking the name away.
int open_nameless(const std::string& folder) {
  const int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return fd;
  std::string pattern = folder + "/gapscope-XXXXXX";
  const int named = ::mkostemp(pattern.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(pattern.c_str());
  return named;
}

class SpilledSource final : public ByteSource {
 public:
  SpilledSource(int fd, std::uint64_t offset) : fd_(fd), at_(offset) {}
  Result<std::size_t> read(char* into, std::size_t size) override {
    std::size_t got = 0;
    while (got < size) {
      const ssize_t n = ::pread(fd_, into + got, size - got, static_cast<off_t>(at_));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return Error{fmt::format("Reading the temporary file failed: {}.", std::strerror(errno))};
      if (n == 0) break;
      got += static_cast<std::size_t>(n);
      at_ += static_cast<std::uint64_t>(n);
    }
    return got;
  }
  std::uint64_t file_bytes_read() const override { return at_; }
  std::uint64_t file_bytes_total() const override { return 0; }

 private:
  int fd_;
  std::uint64_t at_;
};

// Gives up keeping, never reading: without room the text goes by as it does for a plain file.
class SpillingSource final : public ByteSource {
 public:
  SpillingSource(std::unique_ptr<ByteSource> source, const std::string& folder) : source_(std::move(source)) {
    Result<std::shared_ptr<SpilledText>> made = SpilledText::create(folder);
    if (made)
      kept_ = std::move(*made);
    else
      trouble_ = made.error().message;
  }
  Result<std::size_t> read(char* into, std::size_t size) override {
    Result<std::size_t> got = source_->read(into, size);
    if (!got || !kept_) return got;
    if (const std::optional<Error> error = kept_->append(into, *got)) {
      trouble_ = error->message;
      kept_.reset();
    }
    return got;
  }
  std::uint64_t file_bytes_read() const override { return source_->file_bytes_read(); }
  std::uint64_t file_bytes_total() const override { return source_->file_bytes_total(); }
  bool was_cut_short() const override { return source_->was_cut_short(); }
  bool is_plain() const override { return source_->is_plain(); }
  std::shared_ptr<const RestartPoints> restart_points() const override { return source_->restart_points(); }
  std::shared_ptr<const SpilledText> spilled_text() const override { return kept_; }
  std::string spill_trouble() const override { return trouble_; }

 private:
  std::unique_ptr<ByteSource> source_;
  std::shared_ptr<SpilledText> kept_;
  std::string trouble_;
};

}  // namespace

Result<std::shared_ptr<SpilledText>> SpilledText::create(const std::string& folder, std::uint64_t leave_free) {
  const int fd = open_nameless(folder);
  if (fd < 0) return Error{fmt::format("{} cannot hold a temporary file: {}.", printable(folder), std::strerror(errno))};
  return std::shared_ptr<SpilledText>(new SpilledText(fd, folder, leave_free));
}

SpilledText::~SpilledText() { ::close(fd_); }

std::optional<Error> SpilledText::room_for(std::size_t size) {
  // Writing past a limit of the shell would end the program with a signal.
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && size_ + size > limit.rlim_cur) {
    return Error{fmt::format("Files may not grow beyond {} here (ulimit -f).", format_bytes(limit.rlim_cur))};
  }
  if (size_ + size <= looked_to_) return std::nullopt;
  struct statvfs disk {};
  if (::fstatvfs(fd_, &disk) == 0) {
    const std::uint64_t free = static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
    if (free < leave_free_ + size) {
      return Error{fmt::format("{} has only {} free.", printable(folder_), format_bytes(free))};
    }
  }
  looked_to_ = size_ + size + kLookEvery;
  return std::nullopt;
}

std::optional<Error> SpilledText::append(const char* bytes, std::size_t size) {
  if (auto error = room_for(size)) return error;
  while (size > 0) {
    const ssize_t n = ::pwrite(fd_, bytes, size, static_cast<off_t>(size_));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0)
      return Error{fmt::format("Writing to {} failed: {}.", printable(folder_), std::strerror(n < 0 ? errno : ENOSPC))};
    bytes += n;
    size -= static_cast<std::size_t>(n);
    size_ += static_cast<std::uint64_t>(n);
  }
  return std::nullopt;
}

std::unique_ptr<ByteSource> SpilledText::open_at(std::uint64_t offset) const {
  return std::make_unique<SpilledSource>(fd_, offset);
}

std::unique_ptr<ByteSource> make_spilling_source(std::unique_ptr<ByteSource> source, const std::string& folder) {
  return std::make_unique<SpillingSource>(std::move(source), folder);
}

}  // namespace gapscope
