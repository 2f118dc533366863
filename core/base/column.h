#pragma once
// A vector for millions of values: growing it writes nothing, since whoever grows it fills it, and large ones lie in huge
// pages where the system has them, because entering a page for the first time costs more than filling it.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

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
    void* at = is_large(n) ? ::operator new(n * sizeof(T), kHugePage) : ::operator new(n * sizeof(T));
#if defined(__linux__)
    if (is_large(n)) madvise(at, n * sizeof(T), MADV_HUGEPAGE);  // a wish: nothing depends on it
#endif
    return static_cast<T*>(at);
  }
  void deallocate(T* at, std::size_t n) {
    if (is_large(n)) {
      ::operator delete(at, kHugePage);
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
  static constexpr std::align_val_t kHugePage{std::size_t{2} << 20};
  static constexpr bool is_large(std::size_t n) { return n * sizeof(T) >= (std::size_t{4} << 20); }
};

template <class T>
using Column = std::vector<T, ColumnAllocator<T>>;

}  // namespace gapscope
