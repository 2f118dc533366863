#include "core/load/byte_source.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "core/base/readable_folders.h"
#include "core/base/text.h"
#include "core/load/spilled_text.h"

namespace gapscope {
namespace {

class FileSource final : public ByteSource {
 public:
  // `may_wait`: it is no file on disk, so that its reader may have to wait for a writer; until `cancel` (may be null) is set.
  FileSource(int fd, bool owned, std::string path, std::uint64_t size, bool may_wait, const std::atomic<bool>* cancel)
      : fd_(fd), owned_(owned), path_(std::move(path)), size_(size), may_wait_(may_wait), cancel_(cancel) {}
  ~FileSource() override {
    if (owned_) ::close(fd_);
  }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  Result<std::size_t> read(char* into, std::size_t size) override {
    Result<std::size_t> got = read_fully(done_, size, [&](std::size_t at) { return ::read(fd_, into + at, size - at); });
    if (got) done_ += *got;
    return got;
  }
  bool has_read_at() const override { return !may_wait_; }
  Result<std::size_t> read_at(std::uint64_t offset, char* into, std::size_t size) const override {
    return read_fully(offset, size,
                      [&](std::size_t at) { return ::pread(fd_, into + at, size - at, static_cast<off_t>(offset + at)); });
  }
  bool seek(std::uint64_t offset) override {
    if (may_wait_ || ::lseek(fd_, static_cast<off_t>(offset), SEEK_SET) < 0) return false;
    done_ = offset;
    return true;
  }
  std::uint64_t file_bytes_read() const override { return done_; }
  std::uint64_t file_bytes_total() const override { return size_; }

 private:
  // `some(at)` reads what comes after `at` bytes, which are those from `offset` on.
  template <class Some>
  Result<std::size_t> read_fully(std::uint64_t offset, std::size_t size, Some some) const {
    std::size_t got = 0;
    while (got < size) {
      if (!wait()) return Error{"Cancelled."};
      const ssize_t n = some(got);
      if (n < 0 && (errno == EINTR || (errno == EAGAIN && may_wait_))) continue;
      if (n < 0)
        return Error{
            fmt::format("Reading {} failed after {} bytes: {}.", printable(path_), offset + got, std::strerror(errno))};
      if (n == 0) break;
      got += static_cast<std::size_t>(n);
    }
    return got;
  }
  // Until something can be read, or the writer is gone. False when cancelled.
  bool wait() const {
    if (!may_wait_) return cancel_ == nullptr || !cancel_->load(std::memory_order_relaxed);
    constexpr int kPatienceMs = 30;  // a cancelled load is to end within 100
    pollfd ready{fd_, POLLIN, 0};
    while (cancel_ == nullptr || !cancel_->load(std::memory_order_relaxed)) {
      const int n = ::poll(&ready, 1, kPatienceMs);
      if (n > 0 || (n < 0 && errno != EINTR)) return true;
    }
    return false;
  }

  int fd_;
  bool owned_;
  std::string path_;
  std::uint64_t size_;
  bool may_wait_;
  const std::atomic<bool>* cancel_;
  std::uint64_t done_ = 0;
};

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::string_view text) : text_(text) {}
  Result<std::size_t> read(char* into, std::size_t size) override {
    const std::size_t n = std::min(size, text_.size() - at_);
    std::memcpy(into, text_.data() + at_, n);
    at_ += n;
    return n;
  }
  bool has_read_at() const override { return true; }
  Result<std::size_t> read_at(std::uint64_t offset, char* into, std::size_t size) const override {
    const std::size_t from = std::min<std::uint64_t>(offset, text_.size()), n = std::min(size, text_.size() - from);
    std::memcpy(into, text_.data() + from, n);
    return n;
  }
  bool seek(std::uint64_t offset) override {
    at_ = std::min<std::uint64_t>(offset, text_.size());
    return true;
  }
  std::uint64_t file_bytes_read() const override { return at_; }
  std::uint64_t file_bytes_total() const override { return text_.size(); }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

// Gives back a few bytes that were read to find out what the file is.
class ReplaySource final : public ByteSource {
 public:
  ReplaySource(std::string head, std::unique_ptr<ByteSource> rest) : head_(std::move(head)), rest_(std::move(rest)) {}
  Result<std::size_t> read(char* into, std::size_t size) override {
    const std::size_t n = std::min(size, head_.size() - at_);
    std::memcpy(into, head_.data() + at_, n);
    at_ += n;
    if (n == size) return n;
    Result<std::size_t> more = rest_->read(into + n, size - n);
    return more ? Result<std::size_t>(n + *more) : more;
  }
  bool seek(std::uint64_t offset) override {
    if (!rest_->seek(offset)) return false;
    at_ = head_.size();
    return true;
  }
  bool has_read_at() const override { return rest_->has_read_at(); }
  Result<std::size_t> read_at(std::uint64_t offset, char* into, std::size_t size) const override {
    return rest_->read_at(offset, into, size);
  }
  std::uint64_t file_bytes_read() const override { return rest_->file_bytes_read(); }
  std::uint64_t file_bytes_total() const override { return rest_->file_bytes_total(); }
  bool is_plain() const override { return true; }  // of the two wrappings only the inflaters are not

 private:
  std::string head_;
  std::unique_ptr<ByteSource> rest_;
  std::size_t at_ = 0;
};

// Packed traces inflate to 13 to 60 times their size. A file that claims far more is a bomb: it stops here.
constexpr std::uint64_t kLargestRatio = 400;
constexpr std::uint64_t kAlwaysAllowed = std::uint64_t{256} << 20;  // so small a text does no harm at any ratio

class LimitedSource final : public ByteSource {
 public:
  explicit LimitedSource(std::unique_ptr<ByteSource> packed) : packed_(std::move(packed)) {}
  Result<std::size_t> read(char* into, std::size_t size) override {
    Result<std::size_t> got = packed_->read(into, size);
    if (!got) return got;
    text_bytes_ += *got;
    if (text_bytes_ <= std::max(kAlwaysAllowed, kLargestRatio * packed_->file_bytes_read())) return got;
    return Error{
        fmt::format("The file inflates to more than {} times its size, which no trace does: stopped after {} of text. If it is "
                    "sound, unpack it first.",
                    kLargestRatio, format_bytes(text_bytes_))};
  }
  std::uint64_t file_bytes_read() const override { return packed_->file_bytes_read(); }
  std::uint64_t file_bytes_total() const override { return packed_->file_bytes_total(); }
  bool was_cut_short() const override { return packed_->was_cut_short(); }
  std::shared_ptr<const RestartPoints> restart_points() const override { return packed_->restart_points(); }

 private:
  std::unique_ptr<ByteSource> packed_;
  std::uint64_t text_bytes_ = 0;
};

Result<std::unique_ptr<ByteSource>> limited(Result<std::unique_ptr<ByteSource>> packed) {
  if (!packed) return packed;
  return std::unique_ptr<ByteSource>(std::make_unique<LimitedSource>(std::move(*packed)));
}

Result<std::unique_ptr<ByteSource>> unpacked(std::unique_ptr<ByteSource> raw) {
  std::string head(8, '\0');
  Result<std::size_t> got = raw->read(head.data(), head.size());
  if (!got) return got.error();
  head.resize(*got);
  const Packing packing = packing_of(head);
  auto whole = std::make_unique<ReplaySource>(std::move(head), std::move(raw));
  switch (packing) {
    case Packing::gzip: return limited(make_gzip_source(std::move(whole)));
    case Packing::xz: return limited(make_xz_source(std::move(whole)));
    case Packing::zstd: return limited(make_zstd_source(std::move(whole)));
    case Packing::plain: break;
  }
  return std::unique_ptr<ByteSource>(std::move(whole));
}

}  // namespace

Packing packing_of(std::string_view b) {
  if (b.substr(0, 2) == "\x1f\x8b") return Packing::gzip;
  if (b.substr(0, 6) == std::string_view("\xfd"
                                         "7zXZ\0",
                                         6))
    return Packing::xz;
  if (b.substr(0, 4) == "\x28\xb5\x2f\xfd") return Packing::zstd;
  // A frame to skip comes first in what pzstd writes (RFC 8878, 3.1.2).
  if (b.size() >= 4 && (b[0] & '\xf0') == '\x50' && b.substr(1, 3) == "\x2a\x4d\x18") return Packing::zstd;
  return Packing::plain;
}

namespace {

Result<std::unique_ptr<ByteSource>> open_raw(const std::string& path, const std::atomic<bool>* cancel) {
  if (path == "-")
    return std::unique_ptr<ByteSource>(std::make_unique<FileSource>(STDIN_FILENO, false, "standard input", 0, true, cancel));
  const std::string shown = printable(path);
  // Opening a pipe is not to wait for its writer: reading does, and can be cancelled.
  const int fd = open_to_read(path);
  if (fd < 0) {
    if (errno == ENOENT) return Error{fmt::format("{} was not found. Check the path.", shown)};
    return Error{fmt::format("{} cannot be opened: {}.", shown, std::strerror(errno))};
  }
  struct stat info {};
  const bool known = ::fstat(fd, &info) == 0;
  if (known && S_ISDIR(info.st_mode)) {
    ::close(fd);
    return Error{fmt::format("{} is a folder. Name a trace file (.json or .json.gz) inside it.", shown)};
  }
  const bool regular = known && S_ISREG(info.st_mode);
  if (regular && info.st_size == 0) {
    ::close(fd);
    return Error{fmt::format("{} is empty (0 bytes). Was the recording stopped before the trace was exported?", shown)};
  }
  return std::unique_ptr<ByteSource>(
      std::make_unique<FileSource>(fd, true, path, regular ? static_cast<std::uint64_t>(info.st_size) : 0, !regular, cancel));
}

}  // namespace

Result<std::unique_ptr<ByteSource>> open_source(const std::string& path, const std::atomic<bool>* cancel,
                                                const std::string& spill_folder) {
  Result<std::unique_ptr<ByteSource>> raw = open_raw(path, cancel);
  if (!raw) return raw;
  const bool is_pipe = (*raw)->file_bytes_total() == 0;
  Result<std::unique_ptr<ByteSource>> source = unpacked(std::move(*raw));
  if (!source || spill_folder.empty()) return source;
  const bool can_seek = !is_pipe && ((*source)->is_plain() || (*source)->restart_points());
  return can_seek ? std::move(source) : make_spilling_source(std::move(*source), spill_folder);
}

Result<std::unique_ptr<ByteSource>> open_packed(const std::string& path, std::uint64_t offset) {
  Result<std::unique_ptr<ByteSource>> raw = open_raw(path, nullptr);
  if (!raw) return raw;
  if (!(*raw)->seek(offset)) return Error{fmt::format("{} cannot be read from byte {}.", printable(path), offset)};
  return raw;
}

Result<std::unique_ptr<ByteSource>> open_memory(std::string_view bytes) {
  return unpacked(std::make_unique<MemorySource>(bytes));
}

}  // namespace gapscope
