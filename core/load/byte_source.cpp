#include "core/load/byte_source.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "core/base/address.h"
#include "core/base/readable_folders.h"
#include "core/base/text.h"
#include "core/load/archive.h"
#include "core/load/json_text.h"
#include "core/load/spilled_text.h"
#include "core/load/unpack.h"

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
  explicit MemorySource(std::string&& own) : own_(std::move(own)), text_(own_) {}
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
  std::string own_;  // where no other owner has the text
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Result<std::size_t> LineSource::read(char* into, std::size_t size) {
  Result<std::size_t> got = lines_.read(into, size);
  if (got) put_commas(into, *got);
  return got;
}

void LineSource::put_commas(char* text, std::size_t size) {
  for (char *at = text, *const end = text + size; at != end;) {
    char* const line_end = static_cast<char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
    char* last = line_end != nullptr ? line_end : end;
    while (last != at && is_json_space(last[-1])) --last;
    if (last != at) is_behind_event_ = last[-1] == '}';
    if (line_end == nullptr) return;
    if (is_behind_event_) *line_end = ',';
    is_behind_event_ = false;
    at = line_end + 1;
  }
}

namespace {

Result<std::unique_ptr<ByteSource>> open_raw(const std::string& path, const std::atomic<bool>* cancel) {
  if (path == "-")
    return std::unique_ptr<ByteSource>(std::make_unique<FileSource>(STDIN_FILENO, false, "standard input", 0, true, cancel));
  const std::string shown = printable(path);
  // Opening a pipe is not to wait for its writer: reading does, and can be cancelled.
  const int fd = open_to_read(path);
  if (fd < 0) {
    const int trouble = errno;
    if (std::string error = address_error(path); !error.empty()) return Error{std::move(error)};
    if (trouble == ENOENT || trouble == ENOTDIR) return Error{fmt::format("{} was not found. Check the path.", shown)};
    errno = trouble;
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

namespace {

Result<std::unique_ptr<ByteSource>> open_text(const std::string& asked, const std::atomic<bool>* cancel,
                                              const std::string& spill_folder, Recordings recordings) {
  const std::string path = split_rank_path(asked).first;
  Result<std::unique_ptr<ByteSource>> first = open_raw(path, cancel);
  const auto [file, member] = first ? std::pair(path, std::string()) : split_member_path(path);
  if (!first && member.empty()) return first;
  const bool is_pipe = first && (*first)->file_bytes_total() == 0;
  const auto open = [&first = first, &file = file, cancel] {
    return first && *first ? std::exchange(first, std::unique_ptr<ByteSource>()) : open_raw(file, cancel);
  };
  Result<std::unique_ptr<ByteSource>> source = unpacked(open, member, recordings);
  if (!source || spill_folder.empty()) return source;
  const bool can_seek = !is_pipe && ((*source)->is_plain() || (*source)->restart_points());
  return can_seek ? std::move(source) : make_spilling_source(std::move(*source), spill_folder);
}

}  // namespace

Result<std::unique_ptr<ByteSource>> open_source(const std::string& path, const std::atomic<bool>* cancel,
                                                const std::string& spill_folder) {
  return open_text(path, cancel, spill_folder, Recordings::translated);
}

Result<std::unique_ptr<ByteSource>> open_beginning(const std::string& path) {
  return open_text(path, nullptr, {}, Recordings::refused);
}
Result<std::unique_ptr<ByteSource>> open_as_it_is(const std::string& path, const std::atomic<bool>* cancel) {
  return open_text(path, cancel, {}, Recordings::as_they_are);
}

Result<std::unique_ptr<ByteSource>> open_packed(const std::string& path, std::uint64_t offset) {
  Result<std::unique_ptr<ByteSource>> raw = open_raw(split_rank_path(path).first, nullptr);
  if (!raw) return raw;
  if (!(*raw)->seek(offset)) return Error{fmt::format("{} cannot be read from byte {}.", printable(path), offset)};
  return raw;
}

std::unique_ptr<ByteSource> make_text_source(std::string text) { return std::make_unique<MemorySource>(std::move(text)); }

Result<std::unique_ptr<ByteSource>> open_memory(std::string_view bytes) {
  return unpacked([&] { return Result(std::unique_ptr<ByteSource>(std::make_unique<MemorySource>(bytes))); }, {});
}

std::vector<std::string> traces_of_archive(const std::string& path) {
  const auto [file, folder] = split_member_path(path);
  struct stat info {};
  std::vector<std::string> out;
  if (::stat(file.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return out;  // no pipe is opened
  const Result<std::vector<std::string>> names = traces_within([&file = file] { return open_raw(file, nullptr); });
  if (!names || (names->size() == 1 && folder.empty())) return out;
  for (const std::string& name : *names)
    if (folder.empty() || (name.starts_with(folder) && name.substr(folder.size()).starts_with('/')))
      out.push_back(file + '/' + name);
  return out;
}

}  // namespace gapscope
