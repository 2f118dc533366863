#pragma once
// Sorting lists that are made of a few sorted ones: much of a trace is, since writers put one kind of event after the other.
#include <algorithm>
#include <cstddef>
#include <vector>

namespace gapscope {

// Orders `rows`, which consists of ascending runs, by merging neighbours; equal ones keep their order. `spare` is room to
// work in.
template <class Rows, class Less>
void merge_runs(Rows& rows, Rows& spare, Less less) {
  std::vector<std::size_t> bounds{0};
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (less(rows[i], rows[i - 1])) bounds.push_back(i);
  }
  bounds.push_back(rows.size());
  spare.resize(rows.size());
  while (bounds.size() > 2) {
    std::vector<std::size_t> wider{0};
    for (std::size_t r = 0; r + 1 < bounds.size(); r += 2) {
      const auto at = [&](std::size_t bound) { return rows.begin() + static_cast<std::ptrdiff_t>(bounds[std::min(bound, bounds.size() - 1)]); };
      std::merge(at(r), at(r + 1), at(r + 1), at(r + 2), spare.begin() + static_cast<std::ptrdiff_t>(bounds[r]), less);
      wider.push_back(bounds[std::min(r + 2, bounds.size() - 1)]);
    }
    rows.swap(spare);
    bounds.swap(wider);
  }
}

}  // namespace gapscope
