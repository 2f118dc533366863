#include "tests/failure/failing_system.h"

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

std::atomic<std::uint64_t> requests{0};
std::atomic<std::uint64_t> fail_at{kNever};
std::atomic<bool> stays_out{false};
std::atomic<int> threads_allowed{std::numeric_limits<int>::max()};
std::atomic<int> threads_refused{0};
std::atomic<const char*> hung_part{nullptr};
std::atomic<int> hung{0};

void hang_if_told(const char* path) {
  const char* const part = hung_part.load();
  if (part == nullptr || path == nullptr || std::strstr(path, part) == nullptr) return;
  ++hung;
  while (hung_part.load() != nullptr) ::usleep(1000);
  --hung;
}

bool fails() {
  const std::uint64_t n = fail_at.load(std::memory_order_relaxed);
  if (n == kNever) return false;
  const std::uint64_t now = requests.fetch_add(1, std::memory_order_relaxed) + 1;
  return now == n || (now > n && stays_out.load(std::memory_order_relaxed));
}

bool is_out_for_good() {
  return stays_out.load(std::memory_order_relaxed) &&
         requests.load(std::memory_order_relaxed) >= fail_at.load(std::memory_order_relaxed);
}

}  // namespace

namespace gapscope::test {

MemoryFailsAt::MemoryFailsAt(std::uint64_t n, Then then) {
  ::requests = 0;
  ::stays_out = then == Then::stays_out;
  fail_at = n == 0 ? kNever - 1 : n;
}
MemoryFailsAt::~MemoryFailsAt() { fail_at = kNever; }
std::uint64_t MemoryFailsAt::requests() { return ::requests.load(); }

NoThreads::NoThreads(int allowed) {
  threads_refused = 0;
  threads_allowed = allowed;
}
NoThreads::~NoThreads() { threads_allowed = std::numeric_limits<int>::max(); }
int NoThreads::refused() { return threads_refused.load(); }

HungFiles::HungFiles(const char* part) { hung_part = part; }
HungFiles::~HungFiles() {
  hung_part = nullptr;
  while (hung.load() != 0) ::usleep(1000);
}
int HungFiles::waiting() { return hung.load(); }

}  // namespace gapscope::test

extern "C" {

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*), void* argument) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const Create real = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  if (threads_allowed.fetch_sub(1) <= 0 || is_out_for_good()) {
    ++threads_refused;
    return EAGAIN;
  }
  return real(thread, attributes, body, argument);
}

int open(const char* path, int flags, ...) {
  hang_if_told(path);
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = va_arg(rest, mode_t);  // any value where none was given: it is not looked at then
  va_end(rest);
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

int stat(const char* path, struct stat* into) noexcept {
  hang_if_told(path);
  return static_cast<int>(::syscall(SYS_newfstatat, AT_FDCWD, path, into, 0));
}

void* mmap(void* at, std::size_t size, int protection, int flags, int fd, off_t offset) {
  if ((flags & MAP_ANONYMOUS) != 0 && fails()) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return reinterpret_cast<void*>(::syscall(SYS_mmap, at, size, protection, flags, fd, offset));
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
}  // a sanitizer's malloc is its own: what C++ asks for fails all the same

void* operator new(std::size_t size) {
  void* const at = fails() ? nullptr : std::malloc(size);
  if (at == nullptr) throw std::bad_alloc();
  return at;
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return fails() ? nullptr : std::malloc(size); }
void* operator new[](std::size_t size) { return operator new(size); }
void* operator new[](std::size_t size, const std::nothrow_t& tag) noexcept { return operator new(size, tag); }
void operator delete(void* at) noexcept { std::free(at); }
void operator delete(void* at, std::size_t) noexcept { std::free(at); }
void operator delete[](void* at) noexcept { std::free(at); }
void operator delete[](void* at, std::size_t) noexcept { std::free(at); }
#else

void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t n, std::size_t size);
void* __libc_realloc(void* at, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

namespace {
void* nothing() {
  errno = ENOMEM;
  return nullptr;
}
}  // namespace

void* malloc(std::size_t size) noexcept { return fails() ? nothing() : __libc_malloc(size); }
void* calloc(std::size_t n, std::size_t size) noexcept { return fails() ? nothing() : __libc_calloc(n, size); }
void* realloc(void* at, std::size_t size) noexcept { return fails() ? nothing() : __libc_realloc(at, size); }
void* memalign(std::size_t alignment, std::size_t size) noexcept {
  return fails() ? nothing() : __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  return fails() ? nothing() : __libc_memalign(alignment, size);
}
int posix_memalign(void** into, std::size_t alignment, std::size_t size) noexcept {
  if (fails()) return ENOMEM;
  *into = __libc_memalign(alignment, size);
  return *into == nullptr ? ENOMEM : 0;
}
}
#endif
