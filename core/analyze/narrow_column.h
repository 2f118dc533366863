#pragma once
// A long column of numbers that nearly all fit a narrow type: the few that do not lie beside. The narrow type's least
// value (the greatest of an unsigned one) stands for those.
#include <cstdint>
#include <limits>
#include <type_traits>
#include <unordered_map>
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
  Wide operator[](std::size_t i) const { return near_[i] != kBeside ? static_cast<Wide>(near_[i]) : beside_.at(i); }
  void reserve(std::size_t size) { near_.reserve(size); }
  void push_back(Wide value) {
    near_.push_back(0);
    set(near_.size() - 1, value);
  }
  void set(std::size_t i, Wide value) {
    const auto narrow = static_cast<Narrow>(value);
    const bool fits = static_cast<Wide>(narrow) == value && narrow != kBeside;
    near_[i] = fits ? narrow : kBeside;
    if (!fits) beside_[i] = value;
  }
  void add(std::size_t i, Wide value) { set(i, (*this)[i] + value); }

 private:
  static constexpr Narrow kBeside =
      std::is_signed_v<Narrow> ? std::numeric_limits<Narrow>::min() : std::numeric_limits<Narrow>::max();
  std::vector<Narrow> near_;
  std::unordered_map<std::size_t, Wide> beside_;
};

// Durations up to 2.1 s either way.
using NsColumn = NarrowColumn<std::int32_t, Ns>;

}  // namespace gapscope
