#pragma once
// A step function over time in 8 bytes a point: from a point's time on its value holds. Points are added in time order.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/analyze/narrow_column.h"

namespace gapscope {

class StepPoints {
 public:
  void reserve(std::size_t points) {
    after_.reserve(points);
    value_.reserve(points);
  }
  void add(Ns time, std::int32_t value) {
    if (size() % kBlock == 0) block_begin_.push_back(time);
    after_.push_back(time - block_begin_.back());
    value_.push_back(value);
  }

  std::size_t size() const { return value_.size(); }
  Ns time(std::size_t i) const { return block_begin_[i / kBlock] + after_[i]; }
  std::int32_t value(std::size_t i) const { return value_[i]; }

 private:
  static constexpr std::size_t kBlock = 64;
  std::vector<Ns> block_begin_;
  NarrowColumn<std::uint32_t, Ns> after_;
  std::vector<std::int32_t> value_;
};

}  // namespace gapscope
