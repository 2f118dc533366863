#pragma once
// For libraries of others that do not survive a request for memory that fails inside them: what they may take is asked for
// first.
#include <cstddef>
#include <new>

namespace gapscope {

// Throws std::bad_alloc where so many bytes are not available now.
inline void have_memory(std::size_t bytes) { ::operator delete(::operator new(bytes)); }

}  // namespace gapscope
