#pragma once
// The order of a small table's rows: by one of its columns, as a click on a header asks for.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace gapscope {

struct RowOrder {
  std::size_t column = 0;
  bool descending = false;
  friend bool operator==(const RowOrder&, const RowOrder&) = default;
};

// After a click on the header of `column`: numbers begin with the largest, words with A; a second click turns that round.
inline void order_by(RowOrder& order, std::size_t column, bool is_number) {
  order = order.column == column ? RowOrder{column, !order.descending} : RowOrder{column, is_number};
}

// Positions of `count` rows. `less` compares two of them by the order's column; equal ones keep their places.
template <class Less>
std::vector<std::uint32_t> rows_in_order(std::size_t count, const RowOrder& order, Less less) {
  std::vector<std::uint32_t> rows(count);
  std::iota(rows.begin(), rows.end(), 0u);
  std::stable_sort(rows.begin(), rows.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return order.descending ? less(b, a) : less(a, b); });
  return rows;
}

}  // namespace gapscope
