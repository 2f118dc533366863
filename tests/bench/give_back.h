#pragma once
// For benchmarks of memory: what was freed goes back to the system before it is looked at. Nothing where the allocator is
// another one (sanitizers').
#include <cstddef>

extern "C" [[gnu::weak]] int mallctl(const char* name, void* old, std::size_t* old_size, void* value, std::size_t size);

inline void give_back_freed_memory() {
  if (mallctl) mallctl("arena.4096.purge", nullptr, nullptr, nullptr, 0);  // MALLCTL_ARENAS_ALL of jemalloc.h
}
