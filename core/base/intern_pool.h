#pragma once
// Values that many rows share, each once: rows keep its position instead. Any number of threads may add; positions depend
// on who came first, so nothing but the values may be made of them.
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <type_traits>
#include <vector>

#include "core/base/hash.h"

namespace gapscope {

// T: plain data without padding, since values are compared byte by byte.
template <class T>
class InternPool {
  static_assert(std::has_unique_object_representations_v<T>);

  struct Met {
    const T* value = nullptr;  // they stay where they are
    std::uint32_t position = 0;
  };

 public:
  std::size_t size() const { return values_.size(); }
  // While no thread adds.
  const T& operator[](std::uint32_t position) const { return values_[position]; }

  // One a thread and piece of work: remembers what it met, so that few values need the lock.
  class Writer {
   public:
    explicit Writer(InternPool& values) : values_(values) {}
    std::uint32_t add(const T& value) {
      const std::uint64_t hash = hash_bytes(reinterpret_cast<const char*>(&value), sizeof(T));
      Met& met = met_[hash % kMet];
      if (met.value == nullptr || std::memcmp(met.value, &value, sizeof(T)) != 0) met = values_.find_or_add(value, hash);
      return met.position;
    }

   private:
    static constexpr std::size_t kMet = 128;
    InternPool& values_;
    std::array<Met, kMet> met_{};
  };

  void copy_to(InternPool& twin) const {
    twin.values_ = values_;
    twin.hashes_ = hashes_;
    twin.slots_ = slots_;
  }

 private:
  static constexpr std::uint32_t kEmpty = 0xFFFF'FFFFu;
  Met find_or_add(const T& value, std::uint64_t hash) {
    const auto high = static_cast<std::uint32_t>(hash >> 32);
    const std::lock_guard lock(mutex_);
    if (values_.size() * 2 >= slots_.size()) grow();
    std::size_t slot = high & (slots_.size() - 1);
    for (; slots_[slot] != kEmpty; slot = (slot + 1) & (slots_.size() - 1)) {
      const std::uint32_t at = slots_[slot];
      if (hashes_[at] == high && std::memcmp(&values_[at], &value, sizeof(T)) == 0) return {&values_[at], at};
    }
    const auto position = static_cast<std::uint32_t>(values_.size());
    values_.push_back(value);
    hashes_.push_back(high);
    slots_[slot] = position;
    return {&values_.back(), position};
  }

  void grow() {
    slots_.assign(slots_.empty() ? 256 : slots_.size() * 2, kEmpty);
    for (std::uint32_t i = 0; i < hashes_.size(); ++i) {
      std::size_t slot = hashes_[i] & (slots_.size() - 1);
      while (slots_[slot] != kEmpty) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = i;
    }
  }

  std::mutex mutex_;
  std::deque<T> values_;
  std::vector<std::uint32_t> hashes_;  // high half of each value's
  std::vector<std::uint32_t> slots_;   // open addressing; kEmpty or a position
};

}  // namespace gapscope
