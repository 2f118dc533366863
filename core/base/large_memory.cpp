#include "core/base/large_memory.h"

#include <atomic>
#include <cstdint>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "core/base/free_memory.h"

namespace gapscope {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::size_t whole_pages(std::size_t bytes) { return (bytes + kHugePage - 1) / kHugePage * kHugePage; }

#if defined(__linux__)
// Null where there is none.
char* map(std::size_t bytes) {
  void* const got = mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (got == MAP_FAILED) return nullptr;
  char* const from = static_cast<char*>(got);
  const std::size_t before = (kHugePage - reinterpret_cast<std::uintptr_t>(from) % kHugePage) % kHugePage;
  if (before > 0) munmap(from, before);
  munmap(from + before + bytes, kHugePage - before);
  madvise(from + before, bytes, MADV_HUGEPAGE);  // a wish: nothing depends on it
  return from + before;
}
void unmap(void* at, std::size_t bytes) { munmap(at, bytes); }
#else
char* map(std::size_t bytes) { return static_cast<char*>(::operator new (bytes, std::align_val_t{kHugePage}, std::nothrow)); }
void unmap(void* at, std::size_t) { ::operator delete (at, std::align_val_t{kHugePage}); }
#endif

constexpr std::uint64_t kLookEvery = kRoomForSmallThings / 2;  // looking takes longer than a small piece is worth

bool leaves_too_little(std::size_t bytes) {
  static std::atomic<std::uint64_t> since_look{kLookEvery};
  if (since_look.fetch_add(bytes, std::memory_order_relaxed) + bytes < kLookEvery) return false;
  const bool too_little = free_memory_bytes() < bytes + kRoomForSmallThings;
  since_look = too_little ? kLookEvery : 0;  // where memory is short every piece is looked at
  return too_little;
}

}  // namespace

void* allocate_large(std::size_t bytes) {
  bytes = whole_pages(bytes);
  char* const at = leaves_too_little(bytes) ? nullptr : map(bytes);
  if (at == nullptr) throw std::bad_alloc();
  return at;
}

void free_large(void* at, std::size_t bytes) { unmap(at, whole_pages(bytes)); }

}  // namespace gapscope
