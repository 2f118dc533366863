#pragma once
// Which rows of a table have a row in a smaller one that is ordered by them, and which: a bit a row, and how many are set
// before.
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

namespace gapscope::sql {

class RankedSet {
 public:
  // `rows`: ascending positions below `size`, as rows[i] by `position_of`.
  template <class Rows, class PositionOf>
  RankedSet(std::size_t size, const Rows& rows, PositionOf position_of) : words_(size / 64 + 1) {
    for (const auto& row : rows) {
      const std::size_t at = position_of(row);
      words_[at / 64].bits |= std::uint64_t{1} << (at % 64);
    }
    std::uint32_t before = 0;
    for (Word& word : words_) {
      word.before = before;
      before += static_cast<std::uint32_t>(std::popcount(word.bits));
    }
  }
  std::optional<std::uint32_t> find(std::size_t at) const {
    const Word& word = words_[at / 64];
    const std::uint64_t bit = std::uint64_t{1} << (at % 64);
    if ((word.bits & bit) == 0) return std::nullopt;
    return word.before + static_cast<std::uint32_t>(std::popcount(word.bits & (bit - 1)));
  }

 private:
  struct Word {
    std::uint64_t bits = 0;
    std::uint32_t before = 0;
  };
  std::vector<Word> words_;
};

}  // namespace gapscope::sql
