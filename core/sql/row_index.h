#pragma once
// Rows of a table by the value of a column, each value's in ascending order.
#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/base/column.h"
#include "core/base/radix_sort.h"

namespace gapscope::sql {

// For values that are small whole numbers. 4 bytes a row and 4 a value.
class DenseIndex {
 public:
  static constexpr std::uint32_t kNone = 0xFFFF'FFFFu;  // the value of rows that are left out

  // `value(row)` for rows in [0, rows): below `values`, or kNone.
  template <class Value>
  DenseIndex(std::uint32_t rows, std::size_t values, Value value) : first_(values + 1, 0) {
    for (std::uint32_t r = 0; r < rows; ++r)
      if (const std::uint32_t v = value(r); v != kNone) ++first_[v + 1];
    for (std::size_t v = 1; v < first_.size(); ++v) first_[v] += first_[v - 1];
    rows_.resize(first_.back());
    std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
    for (std::uint32_t r = 0; r < rows; ++r)
      if (const std::uint32_t v = value(r); v != kNone) rows_[next[v]++] = r;
  }
  std::span<const std::uint32_t> of(std::uint64_t value) const {
    if (value + 1 >= first_.size()) return {};
    return std::span(rows_).subspan(first_[value], first_[value + 1] - first_[value]);
  }
  std::size_t values() const { return first_.size() - 1; }

 private:
  std::vector<std::uint32_t> first_;
  Column<std::uint32_t> rows_;
};

// For any whole numbers. 12 bytes a row that has one.
class SparseIndex {
 public:
  // First all rows in ascending order, then seal().
  void add(std::uint64_t value, std::uint32_t row) { draft_.push_back({value, row}); }
  void seal() {
    std::vector<Entry> room;
    radix_sort(draft_, room, [](const Entry& e) { return e.value; });
    values_.reserve(draft_.size());
    rows_.reserve(draft_.size());
    for (const Entry& e : draft_) {
      values_.push_back(e.value);
      rows_.push_back(e.row);
    }
    std::vector<Entry>().swap(draft_);
  }
  std::span<const std::uint32_t> of(std::uint64_t value) const {
    const auto [first, last] = std::equal_range(values_.begin(), values_.end(), value);
    return std::span(rows_).subspan(static_cast<std::size_t>(first - values_.begin()), static_cast<std::size_t>(last - first));
  }

 private:
  struct Entry {
    std::uint64_t value;
    std::uint32_t row;
  };
  std::vector<Entry> draft_;
  std::vector<std::uint64_t> values_;
  std::vector<std::uint32_t> rows_;
};

}  // namespace gapscope::sql
