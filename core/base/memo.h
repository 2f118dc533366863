#pragma once
// A value that is made once, by the first thread that asks for it, and never changed: others that ask meanwhile wait.
#include <atomic>
#include <memory>
#include <mutex>

namespace gapscope {

// A mutex and not std::call_once: that one lets an exception through C, which ends the program where memory has run out
// ("libgcc_s.so.1 must be installed for unwinding to work"), and leaves it locked under the thread sanitizer.
template <typename T>
class Memo {
 public:
  // Null until it is there; never waits.
  const T* if_ready() const { return ready_.load(std::memory_order_acquire); }

  // `make` returns a std::unique_ptr<const T>. Where that is null (cancelled) or it throws, nothing is there, and who asks next
  // makes it. Null where `make` gave null.
  template <typename Make>
  const T* get(Make&& make) const {
    if (const T* ready = if_ready()) return ready;
    const std::lock_guard lock(making_);
    if (!value_) value_ = make();
    ready_.store(value_.get(), std::memory_order_release);
    return value_.get();
  }

 private:
  mutable std::atomic<const T*> ready_{nullptr};
  mutable std::mutex making_;
  mutable std::unique_ptr<const T> value_;
};

}  // namespace gapscope
