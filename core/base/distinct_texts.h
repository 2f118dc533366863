#pragma once
// Texts, each once, in the order in which they first came. Adding takes the same time however many there are.
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace gapscope {

class DistinctTexts {
 public:
  void add(std::string_view text) {
    if (seen_.emplace(text).second) list_.emplace_back(text);
  }
  void clear() {
    seen_.clear();
    list_.clear();
  }
  const std::vector<std::string>& list() const { return list_; }

 private:
  std::unordered_set<std::string> seen_;
  std::vector<std::string> list_;
};

}  // namespace gapscope
