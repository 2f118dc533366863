#pragma once
// A step function over time in 5 bytes a point where values change by little: from a point's time on its value holds. Points
// are added in time order, in blocks; each point says how far it is from its block's first.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/narrow_column.h"

namespace gapscope {

class StepPoints {
 public:
  void reserve(std::size_t points) {
    after_.reserve(points);
    above_.reserve(points);
    blocks_.reserve(points / kBlock + 1);
  }
  void add(Ns time, std::int32_t value) {
    if (size() % kBlock == 0) blocks_.push_back({time, value});
    after_.push_back(time - blocks_.back().begin);
    above_.push_back(std::int64_t{value} - blocks_.back().value);
  }

  std::size_t size() const { return after_.size(); }
  Ns time(std::size_t i) const { return blocks_[i / kBlock].begin + after_[i]; }
  std::int32_t value(std::size_t i) const { return static_cast<std::int32_t>(blocks_[i / kBlock].value + above_[i]); }

 private:
  static constexpr std::size_t kBlock = 64;
  struct Block {
    Ns begin;
    std::int32_t value;
  };
  std::vector<Block> blocks_;
  NarrowColumn<std::uint32_t, Ns> after_;
  NarrowColumn<std::int8_t, std::int64_t> above_;
};

}  // namespace gapscope
