#pragma once
// A value that is worked out after its surroundings are in use: absent at first, then there and never changed again.
// One thread publishes, any thread looks.
#include <atomic>
#include <memory>

namespace gapscope {

template <class T>
class Published {
 public:
  // Null until it is there.
  const T* get() const { return there_.load(std::memory_order_acquire); }
  // The first one stays; another is dropped.
  void publish(std::unique_ptr<const T> value) {
    const T* absent = nullptr;
    if (there_.compare_exchange_strong(absent, value.get(), std::memory_order_acq_rel)) owner_ = std::move(value);
  }

 private:
  std::atomic<const T*> there_{nullptr};
  std::unique_ptr<const T> owner_;
};

}  // namespace gapscope
