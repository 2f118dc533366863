#include "core/base/output_file.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <fmt/format.h>

#include "core/base/text.h"

namespace gapscope {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBufferBytes = 256 * 1024;
constexpr int kMostLinks = 40;  // as the system follows

bool same(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

std::string parent_of(const std::string& path) {
  const std::string parent = fs::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

// The N of ".../fd/N" in /proc, which leads to an open file of a program and not to a name; -1 of others.
int open_file_named_by(const std::string& path) {
  const std::string name = fs::path(path).filename().string(), parent = parent_of(path);
  int fd = -1;
  const auto [end, trouble] = std::from_chars(name.data(), name.data() + name.size(), fd);
  if (trouble != std::errc() || end != name.data() + name.size()) return -1;
  struct statfs system {};
  return ::statfs(parent.c_str(), &system) == 0 && system.f_type == PROC_SUPER_MAGIC ? fd : -1;
}

bool state_of(const std::string& input, struct stat& info) {
  return (input == "-" ? ::fstat(STDIN_FILENO, &info) : ::stat(input.c_str(), &info)) == 0;
}

}  // namespace

// Where a path leads to.
struct OutputFile::Target {
  explicit Target(const std::string& path) : name(path == "-" ? "/proc/self/fd/1" : path) {
    follow_links();
    exists = ::stat(name.c_str(), &info) == 0;
    struct stat open {};
    is_ours = exists && open_file >= 0 && ::fstat(open_file, &open) == 0 && same(info, open);
  }

  // By name, so that a link to nothing yet can be written to; as far as an open file of a program.
  void follow_links() {
    for (int i = 0; i < kMostLinks; ++i) {
      struct stat link {};
      if (::lstat(name.c_str(), &link) != 0 || !S_ISLNK(link.st_mode)) return;
      open_file = open_file_named_by(name);
      std::error_code trouble;
      const fs::path to = fs::read_symlink(name, trouble);
      if (open_file >= 0 || trouble) return;
      name = (to.is_absolute() ? to : fs::path(parent_of(name)) / to).string();
    }
    is_endless = true;
  }

  std::string name;
  int open_file = -1;    // the number of the open file that it names
  bool is_ours = false;  // and this program has that open
  bool is_endless = false;
  bool exists = false;
  struct stat info {};
};

OutputFile::OutputFile(std::string path, const OutputOptions& options)
    : path_(std::move(path)), options_(options), shown_(printable(path_)) {}

OutputFile::~OutputFile() {
  if (through_ >= 0) ::close(through_);
}

Result<std::unique_ptr<OutputFile>> OutputFile::create(const std::string& path, const OutputOptions& options) {
  std::unique_ptr<OutputFile> file(new OutputFile(path, options));
  // A name that is not taken leads nowhere, and one that is will be left alone.
  std::optional<Error> error = options.if_taken == IfTaken::number ? file->begin(path) : file->open(Target(path));
  file->options_.inputs = {};  // the caller's, needed no more
  if (error) return *error;
  return file;
}

Error OutputFile::failure() const {
  return Error{fmt::format("{} cannot be written: {}. Name a place where you may write and where there is room.", shown_,
                           std::strerror(trouble_))};
}

std::optional<Error> OutputFile::trouble_so_far() const { return trouble_ == 0 ? std::nullopt : std::optional(failure()); }

bool OutputFile::is_input(const Target& target) const {
  if (!S_ISREG(target.info.st_mode) && !S_ISBLK(target.info.st_mode)) return false;  // a terminal may well be both
  return std::any_of(options_.inputs.begin(), options_.inputs.end(), [&](const std::string& input) {
    struct stat info {};
    return state_of(input, info) && same(target.info, info);
  });
}

std::optional<Error> OutputFile::open(const Target& target) {
  if (target.is_endless) {
    trouble_ = ELOOP;
    return failure();
  }
  if (!target.exists && target.open_file < 0) return begin(target.name);
  if (is_input(target))
    return Error{fmt::format("{} is the trace itself, which is still being read. Write to another file.", shown_)};
  if (S_ISDIR(target.info.st_mode)) return Error{fmt::format("{} is a folder. Name a file in it.", shown_)};
  if (target.is_ours) {
    through_ = ::fcntl(target.open_file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  } else if (target.open_file < 0 && S_ISREG(target.info.st_mode)) {
    was_ = std::make_unique<const struct stat>(target.info);
    // One that may be replaced, since its folder may be written, may still be one that must not be written.
    if (::faccessat(AT_FDCWD, target.name.c_str(), W_OK, AT_EACCESS) == 0) return begin(target.name);
  } else {
    through_ = ::open(target.name.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  }
  if (through_ < 0) trouble_ = errno;
  return trouble_so_far();
}

std::optional<Error> OutputFile::begin(const std::string& target) {
  name_ = fs::path(target).filename().string();
  if (name_.empty() || name_ == "." || name_ == "..") {
    trouble_ = target.empty() ? ENOENT : EISDIR;
  } else {
    // A private file is never more visible while it is written than afterwards.
    temporary_ = std::make_unique<TemporaryFile>(parent_of(target), was_ ? 0600 : 0666);
    trouble_ = temporary_->trouble();
  }
  return trouble_so_far();
}

void OutputFile::write(std::string_view text) {
  if (trouble_ != 0) return;
  if (buffer_.size() + text.size() > kBufferBytes) put(std::exchange(buffer_, {}));
  if (text.size() > kBufferBytes) return put(text);
  buffer_ += text;
}

void OutputFile::put(std::string_view text) {
  const int fd = temporary_ ? temporary_->fd() : through_;
  while (!text.empty() && trouble_ == 0) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) trouble_ = n < 0 ? errno : EIO;
    if (n > 0) text.remove_prefix(static_cast<std::size_t>(n));
  }
}

// Of a file that is replaced. Where its owner or group may not be given away, what was for them alone is for no other user.
void OutputFile::keep_owner_and_mode() {
  const int fd = temporary_->fd();
  mode_t mode = was_->st_mode & 0777;
  struct stat now {};
  if (::fstat(fd, &now) == 0 && (now.st_uid != was_->st_uid || now.st_gid != was_->st_gid) &&
      ::fchown(fd, was_->st_uid, was_->st_gid) != 0 && now.st_gid != was_->st_gid &&
      ::fchown(fd, static_cast<uid_t>(-1), was_->st_gid) != 0)
    mode &= ~static_cast<mode_t>(S_IRWXG) | ((mode & S_IRWXO) << 3);
  ::fchmod(fd, mode);
}

int OutputFile::put_in_place() {
  if (options_.if_taken == IfTaken::replace) return temporary_->replace(name_);
  const std::string wanted = path_;
  for (int n = 2;; ++n) {
    const int why = temporary_->take(name_);
    if (why != EEXIST) return why;
    path_ = numbered(wanted, n);
    name_ = fs::path(path_).filename().string();
  }
}

std::optional<Error> OutputFile::finish() {
  put(std::exchange(buffer_, {}));
  if (temporary_) {
    if (trouble_ == 0 && was_) keep_owner_and_mode();
    if (trouble_ == 0 && options_.synced) trouble_ = temporary_->sync();
    if (trouble_ == 0) trouble_ = put_in_place();
    if (const int why = temporary_->close(options_.synced); trouble_ == 0) trouble_ = why;
    temporary_.reset();
  } else if (::close(std::exchange(through_, -1)) != 0 && trouble_ == 0) {
    trouble_ = errno;
  }
  return trouble_so_far();
}

bool is_standard_output(const std::string& path) {
  struct stat there {
  }, out{};
  return path == "-" || (::stat(path.c_str(), &there) == 0 && ::fstat(STDOUT_FILENO, &out) == 0 && same(there, out));
}

}  // namespace gapscope
