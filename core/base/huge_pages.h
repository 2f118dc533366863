#pragma once
// Pages from the system for core/base/large_memory.h, by the platform: core/base/platform.
#include <cstddef>

namespace gapscope {

inline constexpr std::size_t kHugePage = std::size_t{2} << 20;  // bytes

// `bytes`: a multiple of a page. Aligned to one; null where there are none.
char* map_huge_pages(std::size_t bytes) noexcept;
// `bytes`: as mapped.
void unmap_huge_pages(void* at, std::size_t bytes) noexcept;

}  // namespace gapscope
