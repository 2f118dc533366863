#pragma once
// A map from ids that are known beforehand to values. Ids are mostly small and dense (PyTorch counts them from 1): a bit says
// that one is there, and how many are before it is where its value is. Ids far beyond go to a hash table.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/column.h"
#include "core/base/hash.h"

namespace gapscope {

template <class Value>
class IdMap {
 public:
  // `most`: at most about how many ids there will be. Ids up to 64 times that have a bit: no more than 16 bytes an id.
  explicit IdMap(std::size_t most = 0, Value none = {}) : none_(none), dense_limit_(std::uint64_t{most} * 64 + 1024) {}

  // First all ids, any number of times each; then seal(); then their values.
  void expect(std::uint64_t id) {
    if (id >= dense_limit_) return expect_sparse(id);
    const std::uint64_t word = id / 64;
    if (word >= words_.size()) words_.resize(std::min(word + word / 2 + 16, dense_limit_ / 64 + 1), Word{});
    words_[word].ids |= std::uint64_t{1} << (id % 64);
  }
  void seal() {
    std::uint32_t n = 0;
    for (Word& word : words_) {
      word.before = n;
      n += static_cast<std::uint32_t>(std::popcount(word.ids));
    }
    values_.assign(n, none_);
  }

  // Of an id that was expected; the value that means none until it is set.
  Value& operator[](std::uint64_t id) {
    return id < dense_limit_ ? values_[place(words_[id / 64], id)] : slots_[slot_of(id)].value;
  }
  // The value of any id, or the one that means none.
  Value find(std::uint64_t id) const {
    if (id >= dense_limit_) return slots_.empty() ? none_ : slots_[slot_of(id)].value;
    if (id / 64 >= words_.size()) return none_;
    const Word& word = words_[id / 64];
    return (word.ids >> (id % 64) & 1) != 0 ? values_[place(word, id)] : none_;
  }

 private:
  struct Word {
    std::uint64_t ids = 0;
    std::uint32_t before = 0;
  };
  struct Slot {
    std::uint64_t id = 0;  // 0, which is dense: empty
    Value value{};
  };

  static std::size_t place(const Word& word, std::uint64_t id) {
    return word.before + static_cast<std::size_t>(std::popcount(word.ids & ((std::uint64_t{1} << (id % 64)) - 1)));
  }
  // Where a sparse id is or would be.
  std::size_t slot_of(std::uint64_t id) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = mix64(id) & mask;
    while (slots_[slot].id != id && slots_[slot].id != 0) slot = (slot + 1) & mask;
    return slot;
  }
  void expect_sparse(std::uint64_t id) {
    if ((sparse_ + 1) * 2 > slots_.size()) grow();
    Slot& slot = slots_[slot_of(id)];
    if (slot.id == id) return;
    slot.id = id;
    ++sparse_;
  }
  void grow() {
    std::vector<Slot> before(std::max<std::size_t>(64, slots_.size() * 2), Slot{0, none_});
    before.swap(slots_);
    for (const Slot& slot : before) {
      if (slot.id != 0) slots_[slot_of(slot.id)] = slot;
    }
  }

  Value none_;
  std::uint64_t dense_limit_;
  Column<Word> words_;       // of ids below the limit
  Column<Value> values_;     // in order of those
  std::vector<Slot> slots_;  // of the others: open addressing, at most half full
  std::size_t sparse_ = 0;
};

}  // namespace gapscope
