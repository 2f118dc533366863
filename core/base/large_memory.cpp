#include "core/base/large_memory.h"

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace gapscope {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kMostPieces = 4096;  // of some megabytes each; freeing must not allocate

std::size_t whole_pages(std::size_t bytes) { return (bytes + kHugePage - 1) / kHugePage * kHugePage; }

#if defined(__linux__)
char* map(std::size_t bytes) {
  void* const got = mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (got == MAP_FAILED) throw std::bad_alloc();
  char* const from = static_cast<char*>(got);
  const std::size_t before = (kHugePage - reinterpret_cast<std::uintptr_t>(from) % kHugePage) % kHugePage;
  if (before > 0) munmap(from, before);
  munmap(from + before + bytes, kHugePage - before);
  madvise(from + before, bytes, MADV_HUGEPAGE);  // a wish: nothing depends on it
  return from + before;
}
void unmap(void* at, std::size_t bytes) { munmap(at, bytes); }

bool moved(char* from, std::size_t bytes, char* to) { return mremap(from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to) != MAP_FAILED; }

// Moves pages to a place that is mapped. What the system will not move is given back to it, and new memory put in its place.
void move_pages(char* from, std::size_t bytes, char* to) {
  if (moved(from, bytes, to)) return;
  // Pages that were put together earlier can only be moved one by one.
  for (std::size_t page = 0; page < bytes; page += kHugePage) {
    if (bytes > kHugePage && moved(from + page, kHugePage, to + page)) continue;
    unmap(from + page, kHugePage);
    if (mmap(to + page, kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) throw std::bad_alloc();
    madvise(to + page, kHugePage, MADV_HUGEPAGE);
  }
}
#else
char* map(std::size_t bytes) { return static_cast<char*>(::operator new(bytes, std::align_val_t{kHugePage})); }
void unmap(void* at, std::size_t) { ::operator delete(at, std::align_val_t{kHugePage}); }
#endif

// What was freed and may be used again.
struct Kept {
  struct Piece {
    char* at;
    std::size_t bytes;
  };
  std::mutex mutex;
  std::vector<Piece> pieces;
  std::size_t users = 0;    // ReusedMemory that live
  std::size_t keepers = 0;  // those of them that keep

  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const Piece& p : pieces) sum += p.bytes;
    return sum;
  }
  // Up to `wanted` bytes.
  std::vector<Piece> take(std::size_t wanted) {
    std::vector<Piece> taken;
    while (wanted > 0 && !pieces.empty()) {
      Piece& last = pieces.back();
      const std::size_t n = std::min(wanted, last.bytes);
      last.bytes -= n;
      taken.push_back({last.at + last.bytes, n});
      if (last.bytes == 0) pieces.pop_back();
      wanted -= n;
    }
    return taken;
  }
};

Kept& kept() {
  static Kept all;
  return all;
}

}  // namespace

void* allocate_large(std::size_t bytes) {
  bytes = whole_pages(bytes);
#if defined(__linux__)
  std::vector<Kept::Piece> pieces;
  {
    const std::lock_guard lock(kept().mutex);
    if (kept().users > 0) pieces = kept().take(bytes);
  }
  if (pieces.size() == 1 && pieces[0].bytes == bytes) return pieces[0].at;
  char* const at = map(bytes);
  char* to = at;
  for (const Kept::Piece& piece : pieces) {
    move_pages(piece.at, piece.bytes, to);
    to += piece.bytes;
  }
  return at;
#else
  return map(bytes);
#endif
}

void free_large(void* at, std::size_t bytes) {
  bytes = whole_pages(bytes);
#if defined(__linux__)
  {
    const std::lock_guard lock(kept().mutex);
    if (kept().keepers > 0 && kept().pieces.size() < kept().pieces.capacity()) {
      kept().pieces.push_back({static_cast<char*>(at), bytes});
      return;
    }
  }
#endif
  unmap(at, bytes);
}

ReusedMemory::ReusedMemory() {
  const std::lock_guard lock(kept().mutex);
  kept().pieces.reserve(kMostPieces);
  ++kept().users;
  ++kept().keepers;
}

void ReusedMemory::keep_no_more() {
  const std::lock_guard lock(kept().mutex);
  if (keeps_) --kept().keepers;
  keeps_ = false;
}

ReusedMemory::~ReusedMemory() {
  keep_no_more();
  const std::lock_guard lock(kept().mutex);
  if (--kept().users > 0) return;
  for (const Kept::Piece& piece : kept().pieces) unmap(piece.at, piece.bytes);
  kept().pieces.clear();
}

std::size_t kept_large_bytes() {
  const std::lock_guard lock(kept().mutex);
  return kept().bytes();
}

}  // namespace gapscope
