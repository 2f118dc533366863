#include "core/index/row_levels.h"

#include <algorithm>
#include <array>
#include <bit>

namespace gapscope {
namespace {

constexpr std::size_t kFewSlices = 256;  // so few are looked at one by one
constexpr std::size_t kFirstShrink = 4;  // the first level pays when it has a quarter of the slices
constexpr int kWidestColumn = 62;

constexpr std::size_t kColumns = kWidestColumn + 2;

// How many groups a level has, for each width of column. A slice begins one unless it is shorter than the column, as is
// the one before it, and begins in the same column: so in all columns up to the highest bit in which any of these shows.
std::array<std::size_t, kColumns> count_groups(std::span<const Ns> begin, std::span<const Ns> end) {
  const auto bits = [](std::uint64_t n) { return static_cast<std::size_t>(std::bit_width(n)); };
  const auto number = [](Ns t) { return static_cast<std::uint64_t>(t); };
  std::array<std::size_t, 65> begins_up_to{};
  ++begins_up_to[64];
  std::uint64_t length_before = number(end[0]) - number(begin[0]);
  for (std::size_t i = 1; i < begin.size(); ++i) {
    const std::uint64_t length = number(end[i]) - number(begin[i]);
    ++begins_up_to[bits((number(begin[i]) ^ number(begin[i - 1])) | length | length_before)];
    length_before = length;
  }
  std::array<std::size_t, kColumns> counts{};
  std::size_t sum = 0;
  for (std::size_t column = kColumns; column-- > 0;) counts[column] = sum += begins_up_to[column + 1];
  return counts;
}

// Groups of the level from the slices, or from the groups of a finer one.
template <class First, class Longest>
std::vector<SliceGroup> make_groups(std::size_t n, First first, Longest longest, std::size_t count, std::span<const Ns> begin,
                                    std::span<const Ns> end, int log2_column) {
  std::vector<SliceGroup> out;
  out.reserve(count + 1);
  const Ns column = Ns{1} << log2_column;
  bool joinable = false;
  Ns last_column = 0;
  Ns longest_so_far = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t at = longest(i);
    const Ns length = end[at] - begin[at];
    const Ns this_column = begin[first(i)] >> log2_column;
    const bool is_long = length >= column;
    if (joinable && !is_long && this_column == last_column) {
      if (length > longest_so_far) {
        longest_so_far = length;
        out.back().longest = at;
      }
      continue;
    }
    out.push_back({first(i), at});
    joinable = !is_long;
    last_column = this_column;
    longest_so_far = length;
  }
  const auto slices = static_cast<std::uint32_t>(begin.size());
  out.push_back({slices, slices});
  return out;
}

}  // namespace

RowLevels::RowLevels(std::span<const Ns> begin, std::span<const Ns> end) {
  const std::size_t n = begin.size();
  if (n <= kFewSlices) return;
  const auto extent = static_cast<std::uint64_t>(std::max<Ns>(1, end.back() - begin.front()));
  const auto counts = count_groups(begin, end);
  // Slices spread evenly would share columns four at a time from here on; clustered ones do so earlier.
  int log2_column = std::max(1, static_cast<int>(std::bit_width(extent / n)) - 2);
  for (; log2_column <= kWidestColumn; ++log2_column) {
    const std::size_t count = counts[static_cast<std::size_t>(log2_column)];
    if (count > (levels_.empty() ? n / kFirstShrink : levels_.back().groups.size() / 2)) continue;
    if (levels_.empty()) {
      const auto itself = [](std::size_t i) { return static_cast<std::uint32_t>(i); };
      levels_.push_back({log2_column, make_groups(n, itself, itself, count, begin, end, log2_column)});
    } else {
      const std::vector<SliceGroup>& finer = levels_.back().groups;
      levels_.push_back({log2_column, make_groups(
                                          finer.size() - 1, [&](std::size_t i) { return finer[i].first; },
                                          [&](std::size_t i) { return finer[i].longest; }, count, begin, end, log2_column)});
    }
    if (count < kFewSlices) return;
  }
}

const std::vector<SliceGroup>* RowLevels::level(int log2_column) const {
  const std::vector<SliceGroup>* best = nullptr;
  for (const Level& l : levels_) {
    if (l.log2_column > log2_column) break;
    best = &l.groups;
  }
  return best;
}

}  // namespace gapscope
