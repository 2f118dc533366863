#pragma once
// A map from ids, which are mostly small and dense (PyTorch counts them from 1), to values: an array as long as that
// stays small, a hash map for ids beyond it.
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace gapscope {

template <class Value>
class IdMap {
 public:
  // `expected`: about how many ids there will be. Ids up to eight times that live in the array.
  explicit IdMap(std::size_t expected = 0, Value none = {}) : none_(none), dense_limit_(expected * 8 + 1024) {}

  Value& operator[](std::uint64_t id) {
    if (id >= dense_limit_) return sparse_.try_emplace(id, none_).first->second;
    if (id >= dense_.size()) dense_.resize(id + id / 2 + 64 < dense_limit_ ? id + id / 2 + 64 : dense_limit_, none_);
    return dense_[id];
  }
  // The value, or the one that stands for none.
  Value find(std::uint64_t id) const {
    if (id < dense_.size()) return dense_[id];
    if (id < dense_limit_) return none_;
    const auto at = sparse_.find(id);
    return at == sparse_.end() ? none_ : at->second;
  }

 private:
  Value none_;
  std::uint64_t dense_limit_;
  std::vector<Value> dense_;
  std::unordered_map<std::uint64_t, Value> sparse_;
};

}  // namespace gapscope
