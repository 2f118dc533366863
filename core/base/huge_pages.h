#pragma once
// Huge pages from the system, by the platform: core/base/platform.
#include <cstddef>

namespace gapscope {

inline constexpr std::size_t kHugePage = std::size_t{2} << 20;  // bytes

// While one lives the process may have huge pages: for work that fills much memory at once. Without any it has them too until
// the first one goes, and from then on not: the system also makes a huge page of 2 MB of freed memory in which anything is
// left, and a window that stays open grew from 159 to 187 MB in 25 minutes. Programs that are started meanwhile have what this
// one has. Any thread.
class HugePages {
 public:
  HugePages() noexcept;
  ~HugePages();
  HugePages(const HugePages&) = delete;
  HugePages& operator=(const HugePages&) = delete;
};

// For core/base/large_memory.h. `bytes`: a multiple of a page. Aligned to one; null where there are none.
char* map_huge_pages(std::size_t bytes) noexcept;
// `bytes`: as mapped.
void unmap_huge_pages(void* at, std::size_t bytes) noexcept;

}  // namespace gapscope
