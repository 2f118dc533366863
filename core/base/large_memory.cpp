#include "core/base/large_memory.h"

#include <atomic>
#include <cstdint>
#include <new>

#include "core/base/free_memory.h"
#include "core/base/huge_pages.h"

namespace gapscope {
namespace {

std::size_t whole_pages(std::size_t bytes) { return (bytes + kHugePage - 1) / kHugePage * kHugePage; }

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
  char* const at = leaves_too_little(bytes) ? nullptr : map_huge_pages(bytes);
  if (at == nullptr) throw std::bad_alloc();
  return at;
}

void free_large(void* at, std::size_t bytes) { unmap_huge_pages(at, whole_pages(bytes)); }

}  // namespace gapscope
