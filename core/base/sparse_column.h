#pragma once
// A long column of times, mostly 0: two bits a position and four bytes for each that is not.
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/narrow_column.h"

namespace gapscope {

class SparseNs {
 public:
  // What is not 0, in any order, each position once.
  class Draft {
   public:
    void reserve(std::size_t most) { entries_.reserve(most); }
    void add(std::size_t at, Ns value) {
      if (value == 0) return;
      const auto near = static_cast<std::int32_t>(value);
      const bool fits = near == value;
      entries_.push_back({static_cast<std::uint32_t>(at), fits ? near : 0});
      if (!fits) far_.emplace_back(entries_.size() - 1, value);
    }

   private:
    friend class SparseNs;
    struct Entry {
      std::uint32_t at;
      std::int32_t near;  // meaningless where the value is in far_
    };
    std::vector<Entry> entries_;
    std::vector<std::pair<std::size_t, Ns>> far_;  // position in entries_, ascending
  };

  SparseNs() = default;
  SparseNs(std::size_t size, const Draft& draft) : size_(size), words_((size + 63) / 64), values_(draft.entries_.size()) {
    for (const auto& e : draft.entries_) words_[e.at / 64].bits |= std::uint64_t{1} << (e.at % 64);
    std::uint32_t before = 0;
    for (Word& w : words_) {
      w.before = before;
      before += static_cast<std::uint32_t>(std::popcount(w.bits));
    }
    for (const auto& e : draft.entries_) values_.set(place(e.at), e.near);
    for (const auto& [entry, value] : draft.far_) values_.set(place(draft.entries_[entry].at), value);
  }

  std::size_t size() const { return size_; }
  Ns operator[](std::size_t i) const { return (words_[i / 64].bits >> (i % 64) & 1) != 0 ? values_[place(i)] : 0; }

 private:
  struct Word {
    std::uint64_t bits = 0;    // which of 64 positions are not 0
    std::uint32_t before = 0;  // how many of all earlier ones
  };
  std::size_t place(std::size_t i) const {
    const Word& w = words_[i / 64];
    const std::uint64_t lower = (std::uint64_t{1} << (i % 64)) - 1;
    return w.before + static_cast<std::size_t>(std::popcount(w.bits & lower));
  }

  std::size_t size_ = 0;
  std::vector<Word> words_;
  NsColumn values_;
};

}  // namespace gapscope
