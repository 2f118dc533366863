#pragma once
// Memory for millions of values, in huge pages where the system has them: one page fault for 2 MB instead of 512. Freed, it
// goes back to the system at once; a pool of pages between the two gained nothing measurable (1 GB trace, 2 cores) and is gone.
#include <cstddef>

namespace gapscope {

// A multiple of the size of a huge page, aligned to it; throws std::bad_alloc. What it holds is any bytes.
void* allocate_large(std::size_t bytes);
// `bytes`: as allocated.
void free_large(void* at, std::size_t bytes);

}  // namespace gapscope
