#include "core/index/row_levels.h"

#include <algorithm>
#include <bit>

namespace gapscope {
namespace {

constexpr std::size_t kFewSlices = 256;   // so few are looked at one by one
constexpr std::size_t kFirstShrink = 4;   // the first level pays when it has a quarter of the slices
constexpr int kWidestColumn = 62;

// Groups of the level from the groups (or slices) of a finer one. Stops early, returning false, past `at_most` groups.
template <class First, class Longest>
bool make_groups(std::size_t n, First first, Longest longest, std::uint32_t slices, std::span<const Ns> begin, std::span<const Ns> end,
                 int log2_column, std::size_t at_most, std::vector<SliceGroup>& out) {
  out.clear();
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
    if (out.size() >= at_most) return false;
    out.push_back({first(i), at});
    joinable = !is_long;
    last_column = this_column;
    longest_so_far = length;
  }
  out.push_back({slices, slices});
  return true;
}

}  // namespace

RowLevels::RowLevels(std::span<const Ns> begin, std::span<const Ns> end) {
  const std::size_t n = begin.size();
  if (n <= kFewSlices) return;
  const auto slices = static_cast<std::uint32_t>(n);
  const auto extent = static_cast<std::uint64_t>(std::max<Ns>(1, end.back() - begin.front()));
  // Slices spread evenly would share columns four at a time from here on; clustered ones do so earlier.
  int log2_column = std::max(1, static_cast<int>(std::bit_width(extent / n)) - 2);
  std::vector<SliceGroup> groups;
  for (; log2_column <= kWidestColumn; ++log2_column) {
    const std::size_t at_most = levels_.empty() ? n / kFirstShrink : levels_.back().groups.size() / 2;
    bool made = false;
    if (levels_.empty()) {
      const auto itself = [](std::size_t i) { return static_cast<std::uint32_t>(i); };
      made = make_groups(n, itself, itself, slices, begin, end, log2_column, at_most, groups);
    } else {
      const std::vector<SliceGroup>& finer = levels_.back().groups;
      made = make_groups(finer.size() - 1, [&](std::size_t i) { return finer[i].first; }, [&](std::size_t i) { return finer[i].longest; },
                         slices, begin, end, log2_column, at_most, groups);
    }
    if (!made) continue;
    levels_.push_back({log2_column, groups});
    levels_.back().groups.shrink_to_fit();
    if (groups.size() <= kFewSlices) return;
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

std::size_t RowLevels::bytes() const {
  std::size_t sum = levels_.capacity() * sizeof(Level);
  for (const Level& l : levels_) sum += l.groups.capacity() * sizeof(SliceGroup);
  return sum;
}

}  // namespace gapscope
