#pragma once
// What holds of any bytes that are taken for another profiler's file: it becomes JSON that ends, or a sentence; the text is the
// same in pieces of any size, and in proportion to the file.
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "core/base/parse_json.h"
#include "core/load/byte_source.h"

namespace gapscope::test {

using Translate = Result<std::unique_ptr<ByteSource>> (*)(std::unique_ptr<ByteSource>);

// The text, or the sentence.
inline std::string translation(std::string_view bytes, Translate translate, std::size_t piece, bool& is_text) {
  constexpr std::size_t kMost = std::size_t{64} << 20;
  is_text = false;
  const auto source = translate(make_text_source(std::string(bytes)));
  if (!source) return source.error().message;
  std::string out, into(piece, '\0');
  for (std::size_t got = piece; got == piece;) {
    const auto more = (*source)->read(into.data(), piece);
    if (!more) return more.error().message;
    got = *more;
    out.append(into, 0, got);
    if (out.size() > kMost) std::abort();
  }
  is_text = true;
  return out;
}

inline void check_translation(std::string_view bytes, Translate translate) {
  bool is_text = false, is_text_again = false;
  const std::string whole = translation(bytes, translate, std::size_t{1} << 20, is_text);
  const std::string pieces = translation(bytes, translate, 1000, is_text_again);
  if (whole.empty() || whole != pieces || is_text != is_text_again) std::abort();
  if (!is_text && !whole.starts_with("The file ")) std::abort();
  // The text of a damaged file ends early, as a trace that is cut short does.
  if (is_text && whole.find("\"recorder\"") < 100 && whole.ends_with("]}\n") && !parse_json(whole)) std::abort();
}

}  // namespace gapscope::test
