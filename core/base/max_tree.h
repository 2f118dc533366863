#pragma once
// Values by position, which may change. The next one that is large enough is found in O(log n). This keeps
// searches short in files whose slices lie thousands deep.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace gapscope {

class MaxTree {
 public:
  static constexpr std::size_t kNone = ~std::size_t{0};
  static constexpr std::int64_t kLowest =
      std::numeric_limits<std::int64_t>::min();  // of positions without a value; no bound may be that low

  // Positions [0, size) from now on, which keep their values.
  void resize(std::size_t size) {
    size_ = size;
    if (size <= leaves_) return;
    const std::vector<std::int64_t> before(nodes_.begin() + static_cast<std::ptrdiff_t>(leaves_), nodes_.end());
    leaves_ = std::bit_ceil(size);
    nodes_.assign(2 * leaves_, kLowest);
    std::copy(before.begin(), before.end(), nodes_.begin() + static_cast<std::ptrdiff_t>(leaves_));
    for (std::size_t node = leaves_; node-- > 1;) nodes_[node] = std::max(nodes_[2 * node], nodes_[2 * node + 1]);
  }
  std::size_t size() const { return size_; }

  void set(std::size_t position, std::int64_t value) {
    std::size_t node = leaves_ + position;
    nodes_[node] = value;
    for (node /= 2; node > 0; node /= 2) {
      const std::int64_t most = std::max(nodes_[2 * node], nodes_[2 * node + 1]);
      if (nodes_[node] == most) return;
      nodes_[node] = most;
    }
  }
  std::int64_t operator[](std::size_t position) const { return nodes_[leaves_ + position]; }

  // The first position from `from` on, and the last before `before`, whose value is at least `bound`; or kNone.
  std::size_t first_at_least(std::size_t from, std::int64_t bound) const {
    if (from >= size_) return kNone;
    std::size_t node = leaves_ + from;
    while (nodes_[node] < bound) {
      while (node % 2 == 1) node /= 2;
      if (node == 0) return kNone;
      ++node;
    }
    while (node < leaves_) node = nodes_[2 * node] >= bound ? 2 * node : 2 * node + 1;
    return node - leaves_;
  }
  std::size_t last_at_least(std::size_t before, std::int64_t bound) const {
    if (std::min(before, size_) == 0) return kNone;
    std::size_t node = leaves_ + std::min(before, size_) - 1;
    while (nodes_[node] < bound) {
      while (node % 2 == 0) node /= 2;
      if (node == 1) return kNone;
      --node;
    }
    while (node < leaves_) node = nodes_[2 * node + 1] >= bound ? 2 * node + 1 : 2 * node;
    return node - leaves_;
  }
  // The first position of the largest value in [first, last), which is not empty.
  std::size_t largest(std::size_t first, std::size_t last) const {
    std::int64_t most = kLowest;
    for (std::size_t low = first + leaves_, high = last + leaves_; low < high; low /= 2, high /= 2) {
      if (low % 2 == 1) most = std::max(most, nodes_[low++]);
      if (high % 2 == 1) most = std::max(most, nodes_[--high]);
    }
    return first_at_least(first, most);
  }

 private:
  std::size_t size_ = 0, leaves_ = 0;  // leaves_: a power of two, or 0
  std::vector<std::int64_t> nodes_;    // the children of node k are 2k and 2k+1; leaves come last
};

}  // namespace gapscope
