#pragma once
// A vector for millions of values: growing it writes nothing, since the caller then fills it, and large ones are in huge
// pages where the system has them, because entering a page for the first time costs more than filling it.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/large_memory.h"

namespace gapscope {

template <class T>
class ColumnAllocator {
 public:
  using value_type = T;

  ColumnAllocator() = default;
  template <class U>
  ColumnAllocator(const ColumnAllocator<U>&) {}

  T* allocate(std::size_t n) {
    if (n > static_cast<std::size_t>(-1) / sizeof(T) / 2) throw std::bad_alloc();
    return static_cast<T*>(is_large(n) ? allocate_large(n * sizeof(T)) : ::operator new(n * sizeof(T)));
  }
  void deallocate(T* at, std::size_t n) {
    if (is_large(n)) {
      free_large(at, n * sizeof(T));
    } else {
      ::operator delete(at);
    }
  }

  // Without a value an element is left as it is.
  template <class U>
  void construct(U*) {
    static_assert(std::is_trivially_copyable_v<U>);
  }
  template <class U, class... Args>
  void construct(U* at, Args&&... args) {
    ::new (static_cast<void*>(at)) U(std::forward<Args>(args)...);
  }

  friend bool operator==(const ColumnAllocator&, const ColumnAllocator&) { return true; }

 private:
  // From a huge page on, so that not much more than half of one is wasted at the end.
  static constexpr bool is_large(std::size_t n) { return n * sizeof(T) >= (std::size_t{2} << 20); }
};

template <class T>
using Column = std::vector<T, ColumnAllocator<T>>;

}  // namespace gapscope
