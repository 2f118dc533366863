#include "core/base/huge_pages.h"

#include <cstdint>
#include <mutex>

#include <sys/mman.h>
#include <sys/prctl.h>

namespace gapscope {
namespace {

std::mutex counting;
int living = 0;

void allow(bool huge) { prctl(PR_SET_THP_DISABLE, huge ? 0 : 1, 0, 0, 0); }  // a wish, too

}  // namespace

HugePages::HugePages() noexcept {
  const std::lock_guard lock(counting);
  if (living++ == 0) allow(true);
}

HugePages::~HugePages() {
  const std::lock_guard lock(counting);
  if (--living == 0) allow(false);
}

char* map_huge_pages(std::size_t bytes) noexcept {
  void* const got = mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (got == MAP_FAILED) return nullptr;
  char* const from = static_cast<char*>(got);
  const std::size_t before = (kHugePage - reinterpret_cast<std::uintptr_t>(from) % kHugePage) % kHugePage;
  if (before > 0) munmap(from, before);
  munmap(from + before + bytes, kHugePage - before);
  madvise(from + before, bytes, MADV_HUGEPAGE);  // a wish: nothing depends on it
  return from + before;
}

void unmap_huge_pages(void* at, std::size_t bytes) noexcept { munmap(at, bytes); }

}  // namespace gapscope
