#pragma once
// A long column of numbers that nearly all fit a narrow type: the few that do not lie alongside, by position. The narrow type's
// least value (the greatest of an unsigned one) marks those.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/time.h"

namespace gapscope {

template <class Narrow, class Wide>
class NarrowColumn {
 public:
  NarrowColumn() = default;
  explicit NarrowColumn(std::size_t size) : near_(size, 0) {}

  std::size_t size() const { return near_.size(); }
  bool empty() const { return near_.empty(); }
  Wide operator[](std::size_t i) const { return near_[i] != kBeside ? static_cast<Wide>(near_[i]) : find(i)->second; }
  void reserve(std::size_t size) { near_.reserve(size); }
  void push_back(Wide value) {
    near_.push_back(narrow(value));
    if (near_.back() == kBeside) set_beside(near_.size() - 1, value);
  }
  void set(std::size_t i, Wide value) {
    near_[i] = narrow(value);
    if (near_[i] == kBeside) set_beside(i, value);
  }
  void add(std::size_t i, Wide value) { set(i, (*this)[i] + value); }

 private:
  using Beside = std::vector<std::pair<std::size_t, Wide>>;
  static constexpr Narrow kBeside =
      std::is_signed_v<Narrow> ? std::numeric_limits<Narrow>::min() : std::numeric_limits<Narrow>::max();

  static Narrow narrow(Wide value) {
    const auto near = static_cast<Narrow>(value);
    return static_cast<Wide>(near) == value ? near : kBeside;
  }
  typename Beside::const_iterator find(std::size_t i) const {
    return std::lower_bound(beside_.begin(), beside_.end(), i, [](const auto& b, std::size_t at) { return b.first < at; });
  }
  // Positions come in order, or nearly so. Not part of every loop that sets values: it is needed for few.
  [[gnu::noinline]] void set_beside(std::size_t i, Wide value) {
    if (beside_.empty() || beside_.back().first < i) return beside_.emplace_back(i, value), void();
    const auto at = beside_.begin() + (find(i) - beside_.cbegin());
    if (at->first == i)
      at->second = value;
    else
      beside_.emplace(at, i, value);
  }

  std::vector<Narrow> near_;
  Beside beside_;
};

// Durations up to 2.1 s either way.
using NsColumn = NarrowColumn<std::int32_t, Ns>;

}  // namespace gapscope
