#pragma once
// Owns many small texts in few large blocks. Texts never move, so views stay valid while the arena lives.
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace gapscope {

class TextArena {
 public:
  std::string_view keep(std::string_view text) {
    if (text.empty()) return {};
    if (text.size() > left_) start_block(text.size());
    char* at = next_;
    std::memcpy(at, text.data(), text.size());
    next_ += text.size();
    left_ -= text.size();
    return {at, text.size()};
  }
  std::size_t bytes() const { return bytes_; }

 private:
  static constexpr std::size_t kBlockBytes = 64 * 1024;  // small enough to waste little, large enough to be few

  void start_block(std::size_t at_least) {
    left_ = at_least > kBlockBytes ? at_least : kBlockBytes;
    blocks_.push_back(std::make_unique<char[]>(left_));
    next_ = blocks_.back().get();
    bytes_ += left_;
  }

  std::vector<std::unique_ptr<char[]>> blocks_;
  char* next_ = nullptr;
  std::size_t left_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace gapscope
