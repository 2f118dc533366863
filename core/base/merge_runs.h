#pragma once
// Sorting lists that are made of a few sorted ones: much of a trace is, since writers put one kind of event after the other.
#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "core/base/scratch.h"

namespace gapscope {

// Merges the neighbours [0, middle) and [middle, size) of `rows`. What already is in its place is found by bisection
// and left alone; only the smaller half of the rest goes through `spare`.
template <class T, class Spare, class Less>
void merge_neighbours(std::span<T> rows, std::size_t middle, Spare& spare, Less less) {
  T* const begin = std::upper_bound(rows.data(), rows.data() + middle, rows[middle], less);
  T* const cut = rows.data() + middle;
  if (begin == cut) return;
  T* const end = std::lower_bound(cut, rows.data() + rows.size(), cut[-1], less);
  const bool left_is_smaller = cut - begin <= end - cut;
  const auto n = static_cast<std::size_t>(left_is_smaller ? cut - begin : end - cut);
  grow_scratch(spare, n);
  T* const kept = spare.data();
  if (left_is_smaller) {
    std::copy(begin, cut, kept);
    T *left = kept, *right = cut, *to = begin;
    while (left != kept + n && right != end) *to++ = less(*right, *left) ? *right++ : *left++;
    std::copy(left, kept + n, to);
  } else {
    std::copy(cut, end, kept);
    T *left = cut, *right = kept + n, *to = end;
    while (right != kept && left != begin) *--to = less(right[-1], left[-1]) ? *--left : *--right;
    std::copy_backward(kept, right, to);
  }
}

// Orders `rows`, which consists of ascending runs, by merging neighbours; equal ones keep their order. `spare` is room to
// work in, at most half as long; kept by the caller where it sorts often. Once `stop` says so it ends, and the order is lost.
template <class T, class Spare, class Less, class Stop>
void merge_runs(std::span<T> rows, Spare& spare, Less less, Stop stop) {
  std::vector<std::size_t> bounds{0};
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (less(rows[i], rows[i - 1])) bounds.push_back(i);
  }
  bounds.push_back(rows.size());
  while (bounds.size() > 2) {
    std::size_t kept = 1;
    for (std::size_t r = 0; r + 1 < bounds.size(); r += 2) {
      if (stop()) return;
      const std::size_t end = bounds[std::min(r + 2, bounds.size() - 1)];
      if (r + 2 < bounds.size())
        merge_neighbours(rows.subspan(bounds[r], end - bounds[r]), bounds[r + 1] - bounds[r], spare, less);
      bounds[kept++] = end;
    }
    bounds.resize(kept);
  }
}
template <class T, class Spare, class Less>
void merge_runs(std::span<T> rows, Spare& spare, Less less) {
  merge_runs(rows, spare, less, [] { return false; });
}

}  // namespace gapscope
