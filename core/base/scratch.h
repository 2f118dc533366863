#pragma once
// Room that is worked in again and again: it grows to what was needed most, and what it held is lost then.
#include <cstddef>

namespace gapscope {

template <class Column>
void grow_scratch(Column& column, std::size_t n) {
  if (column.size() >= n) return;
  column.clear();  // so that growing copies nothing
  column.resize(n);
}

}  // namespace gapscope
