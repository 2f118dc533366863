#include "core/base/huge_pages.h"

#include <new>

namespace gapscope {

HugePages::HugePages() noexcept = default;
HugePages::~HugePages() = default;

// WebAssembly has one memory and no pages to give back: the allocator's.
char* map_huge_pages(std::size_t bytes) noexcept {
  return static_cast<char*>(::operator new (bytes, std::align_val_t{kHugePage}, std::nothrow));
}

void unmap_huge_pages(void* at, std::size_t) noexcept { ::operator delete (at, std::align_val_t{kHugePage}); }

}  // namespace gapscope
