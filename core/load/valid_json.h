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
  // The object (or array) with its strings mended as the loader does, lone surrogates ("\ud800") as the U+FFFD that the
  // loader makes of them, and scalars that are none (NaN, -inf) as texts; empty when that is not enough.
  std::string mended(std::string_view text);

 private:
  static void replace_lone_surrogates(std::string& text);
  std::string with_texts_for_odd_scalars(std::string_view text);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gapscope
