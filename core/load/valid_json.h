#pragma once
// Text that every JSON reader takes, made of text that a lenient one took.
#include <memory>
#include <string>
#include <string_view>

namespace gapscope {

class ValidJson {
 public:
  ValidJson();
  ~ValidJson();
  ValidJson(const ValidJson&) = delete;
  ValidJson& operator=(const ValidJson&) = delete;

  bool is_valid(std::string_view text);
  // The object (or array) with its strings mended as the loader does, and with scalars that are none (NaN, -inf) as
  // texts; empty when that is not enough.
  std::string mended(std::string_view text);

 private:
  std::string with_texts_for_odd_scalars(std::string_view text);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gapscope
