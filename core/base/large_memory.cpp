#include "core/base/large_memory.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "core/base/free_memory.h"

namespace gapscope {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kMostPieces = 4096;  // of some megabytes each; freeing must not allocate

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

// Moves pages to a place that is mapped, one by one: several that came from different places are refused as a whole by older
// systems, which have taken away what was mapped at `to` by then, so that another thread could be given that place. Returns how
// many bytes have their place; where that is less, nothing is mapped at the next page, and what was to be moved there is gone.
std::size_t move_pages(char* from, std::size_t bytes, char* to) {
  for (std::size_t page = 0; page < bytes; page += kHugePage) {
    if (mremap(from + page, kHugePage, kHugePage, MREMAP_MAYMOVE | MREMAP_FIXED, to + page) != MAP_FAILED) continue;
    // What the system will not move is given back to it, and new memory put in its place, if that was taken away.
    unmap(from + page, kHugePage);
    void* const place = mmap(to + page, kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (place != MAP_FAILED || errno == EEXIST) continue;
    if (page + kHugePage < bytes) unmap(from + page + kHugePage, bytes - page - kHugePage);
    return page;
  }
  return bytes;
}
#else
char* map(std::size_t bytes) { return static_cast<char*>(::operator new(bytes, std::align_val_t{kHugePage})); }
void unmap(void* at, std::size_t) { ::operator delete(at, std::align_val_t{kHugePage}); }
#endif

constexpr std::uint64_t kLookEvery = kRoomForSmallThings / 2;  // looking takes longer than a small piece is worth

bool leaves_too_little(std::size_t bytes) {
  static std::atomic<std::uint64_t> since_look{kLookEvery};
  if (since_look.fetch_add(bytes, std::memory_order_relaxed) + bytes < kLookEvery) return false;
  const bool too_little = free_memory_bytes() < bytes + kRoomForSmallThings;
  since_look = too_little ? kLookEvery : 0;  // where memory is short every piece is looked at
  return too_little;
}

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
  // Up to `wanted` bytes in one piece; none: of size 0.
  Piece take(std::size_t wanted) {
    if (users == 0 || pieces.empty()) return {nullptr, 0};
    Piece& last = pieces.back();
    const std::size_t n = std::min(wanted, last.bytes);
    last.bytes -= n;
    const Piece taken{last.at + last.bytes, n};
    if (last.bytes == 0) pieces.pop_back();
    return taken;
  }
  void give_back() {
    for (const Piece& piece : pieces) unmap(piece.at, piece.bytes);
    pieces.clear();
  }
};

Kept& kept() {
  static Kept all;
  return all;
}

Kept::Piece take_kept(std::size_t wanted) {
  const std::lock_guard lock(kept().mutex);
  return kept().take(wanted);
}

// New memory. Where there is none, what is kept is given back first: it was to save time.
char* map_or_throw(std::size_t bytes) {
  if (!leaves_too_little(bytes)) {
    if (char* const at = map(bytes)) return at;
  }
  {
    const std::lock_guard lock(kept().mutex);
    kept().give_back();
  }
  char* const at = leaves_too_little(bytes) ? nullptr : map(bytes);
  if (at == nullptr) throw std::bad_alloc();
  return at;
}

}  // namespace

void* allocate_large(std::size_t bytes) {
  bytes = whole_pages(bytes);
#if defined(__linux__)
  Kept::Piece piece = take_kept(bytes);
  if (piece.bytes == bytes) return piece.at;
  char* at = nullptr;
  try {
    at = map_or_throw(bytes);
  } catch (const std::bad_alloc&) {
    if (piece.bytes != 0) unmap(piece.at, piece.bytes);
    throw;
  }
  char* const end = at + bytes;
  for (char* to = at; piece.bytes != 0; piece = take_kept(static_cast<std::size_t>(end - to))) {
    const std::size_t moved = move_pages(piece.at, piece.bytes, to);
    to += moved;
    if (moved == piece.bytes) continue;
    unmap(at, static_cast<std::size_t>(to - at));
    if (end - to > static_cast<std::ptrdiff_t>(kHugePage)) unmap(to + kHugePage, static_cast<std::size_t>(end - to) - kHugePage);
    throw std::bad_alloc();
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
  if (--kept().users == 0) kept().give_back();
}

std::size_t kept_large_bytes() {
  const std::lock_guard lock(kept().mutex);
  return kept().bytes();
}

}  // namespace gapscope
