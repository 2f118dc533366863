#include "core/base/temporary_file.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gapscope {
namespace {

constexpr std::size_t kRandomChars = 13;  // 5 bits each: 64 of them
constexpr std::size_t kNameBytes = kTemporaryPrefix.size() + kRandomChars + 1;

// The names there are, for a handler of signals, which may touch nothing else.
struct Slot {
  std::atomic<bool> used{false};
  std::atomic<bool> live{false};
  int folder = -1;
  std::array<char, kNameBytes> name{};
};
std::array<Slot, 64> slots;

int take_slot(int folder, const std::string& name) {
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].used.exchange(true)) continue;
    slots[i].folder = folder;
    std::memcpy(slots[i].name.data(), name.c_str(), name.size() + 1);
    slots[i].live = true;
    return static_cast<int>(i);
  }
  return -1;  // a signal then does not delete it, only the destructor does
}

void free_slot(int slot) {
  if (slot < 0) return;
  slots[static_cast<std::size_t>(slot)].live = false;
  slots[static_cast<std::size_t>(slot)].used = false;
}

extern "C" void remove_names_and_end(int signal) {
  remove_temporaries();
  ::raise(signal);  // SA_RESETHAND: it now does what it did before
}

std::string unpredictable_name() {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz234567";
  std::uint64_t bits = 0;
  if (::getrandom(&bits, sizeof bits, 0) != sizeof bits)
    bits = reinterpret_cast<std::uintptr_t>(&bits) ^ (static_cast<std::uint64_t>(::getpid()) << 32);
  std::string name(kTemporaryPrefix);
  for (std::size_t i = 0; i < kRandomChars; ++i, bits >>= 5) name += kLetters[bits & 31];
  return name;
}

std::string path_of(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

int sync_file(int fd) {
  while (::fsync(fd) != 0) {
    if (errno == EINTR) continue;
    // What cannot be synced at all is as safe as it gets.
    return errno == EINVAL || errno == ENOSYS || errno == ENOTSUP || errno == EBADF ? 0 : errno;
  }
  return 0;
}

}  // namespace

void remove_temporaries() noexcept {
  for (const Slot& slot : slots)
    if (slot.live) ::unlinkat(slot.folder, slot.name.data(), 0);
}

TemporaryFile::TemporaryFile(const std::string& folder, mode_t mode, bool may_be_nameless) {
  folder_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder_ < 0 && errno == EACCES)
    folder_ = ::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);  // one may write but not list
  if (folder_ < 0) {
    trouble_ = errno;
    return;
  }
  if (may_be_nameless) fd_ = ::openat(folder_, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
  if (fd_ >= 0 && ::access(path_of(fd_).c_str(), F_OK) == 0) return;
  if (fd_ >= 0) ::close(fd_);  // without /proc it could never be given a name
  do {
    forget_name();
    name_ = unpredictable_name();
    slot_ = take_slot(folder_, name_);  // first, so that no signal falls between
    fd_ = ::openat(folder_, name_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  } while (fd_ < 0 && errno == EEXIST);
  if (fd_ >= 0) return;
  trouble_ = errno;
  forget_name();
}

TemporaryFile::~TemporaryFile() {
  if (!name_.empty()) ::unlinkat(folder_, name_.c_str(), 0);
  forget_name();
  if (fd_ >= 0) ::close(fd_);
  if (folder_ >= 0) ::close(folder_);
}

void TemporaryFile::forget_name() {
  free_slot(std::exchange(slot_, -1));
  name_.clear();
}

// A file cannot take another's place without having had a name of its own.
int TemporaryFile::name_it() {
  while (name_.empty()) {
    name_ = unpredictable_name();
    slot_ = take_slot(folder_, name_);
    if (::linkat(AT_FDCWD, path_of(fd_).c_str(), folder_, name_.c_str(), AT_SYMLINK_FOLLOW) == 0) break;
    const int why = errno;
    forget_name();
    if (why != EEXIST) return why;
  }
  return 0;
}

int TemporaryFile::replace(const std::string& name) {
  if (const int why = name_it()) return why;
  if (::renameat(folder_, name_.c_str(), folder_, name.c_str()) != 0) return errno;
  forget_name();
  return 0;
}

int TemporaryFile::take(const std::string& name) {
  if (const int why = name_it()) return why;
  if (const int why = rename_unless_taken(folder_, name_.c_str(), name.c_str())) return why;
  forget_name();
  return 0;
}

int TemporaryFile::sync() { return sync_file(fd_); }

int TemporaryFile::close(bool synced) {
  const int why = ::close(std::exchange(fd_, -1)) != 0 && errno != EINTR ? errno : 0;
  const int late = synced ? sync_file(folder_) : 0;
  return why != 0 ? why : late;
}

std::string before_ending(std::string_view path, std::string_view word) {
  const std::size_t folder_end = path.rfind('/') + 1;  // 0 without one
  std::size_t ending = path.size();
  for (const std::string_view packing : {".gz", ".xz", ".zst"})
    if (path.ends_with(packing)) ending -= packing.size();
  const std::size_t dot = path.substr(0, ending).rfind('.');
  if (dot != std::string_view::npos && dot > folder_end) ending = dot;
  return std::string(path.substr(0, ending)).append(word).append(path.substr(ending));
}

std::string numbered(std::string_view path, int n) { return before_ending(path, '-' + std::to_string(n)); }

bool is_temporary(std::string_view path) {
  return path.starts_with(kTemporaryPrefix) || path.find(std::string("/").append(kTemporaryPrefix)) != path.npos;
}

void remove_temporaries_when_killed() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    if (::sigaction(signal, nullptr, &before) != 0 || (before.sa_flags & SA_SIGINFO) != 0 || before.sa_handler != SIG_DFL)
      continue;
    struct sigaction ours {};
    ours.sa_handler = remove_names_and_end;
    ours.sa_flags = static_cast<int>(SA_RESETHAND);
    ::sigaction(signal, &ours, nullptr);
  }
}

}  // namespace gapscope
