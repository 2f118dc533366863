#include "core/base/free_memory.h"

#include <emscripten/heap.h>
#include <malloc.h>

#include <algorithm>

namespace gapscope {

// What the allocator has and does not use, and what the page may still ask its browser for.
std::uint64_t free_of_limit() noexcept {
  const std::uint64_t most = emscripten_get_heap_max();
  return most - std::min<std::uint64_t>(most, mallinfo().uordblks);
}

void set_aside_below_limit(std::uint64_t) noexcept {}

std::uint64_t free_memory_bytes() noexcept { return free_of_limit(); }

}  // namespace gapscope
