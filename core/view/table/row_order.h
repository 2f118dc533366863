#pragma once
// The order of a small table's rows: by one of its columns, as a click on a header asks for.
#include <cstddef>

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

}  // namespace gapscope
