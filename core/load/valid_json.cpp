#include "core/load/valid_json.h"

#include <new>

#include <simdjson.h>

#include "core/load/event_repair.h"

namespace gapscope {

struct ValidJson::Impl {
  simdjson::dom::parser parser;
};

ValidJson::ValidJson() : impl_(std::make_unique<Impl>()) {}
ValidJson::~ValidJson() = default;

bool ValidJson::is_valid(std::string_view text) {
  simdjson::dom::element ignored;
  const simdjson::error_code error = impl_->parser.parse(text.data(), text.size(), /*realloc_if_needed=*/true).get(ignored);
  if (error == simdjson::MEMALLOC) throw std::bad_alloc();
  return error == simdjson::SUCCESS;
}

std::string ValidJson::mended(std::string_view text) {
  Repairs ignored;
  Mended mended = repair_event(text, ignored);
  if (!mended.closed) return {};
  replace_lone_surrogates(mended.text);
  if (is_valid(mended.text)) return std::move(mended.text);
  std::string quoted = with_texts_for_odd_scalars(mended.text);
  return is_valid(quoted) ? quoted : std::string();
}

// In strings and keys, which are mended: every backslash begins an escape.
void ValidJson::replace_lone_surrogates(std::string& text) {
  constexpr std::size_t kLength = 6;  // of \ud800
  const auto is_escape = [&](std::size_t at, std::string_view third) {
    return at + kLength <= text.size() && text[at] == '\\' && text[at + 1] == 'u' &&
           (text[at + 2] == 'd' || text[at + 2] == 'D') && third.find(text[at + 3]) != std::string_view::npos;
  };
  for (std::size_t at = text.find('\\'); at != std::string::npos; at = text.find('\\', at)) {
    const bool high = is_escape(at, "89abAB"), low = is_escape(at, "cdefCDEF");
    if (high && is_escape(at + kLength, "cdefCDEF")) {
      at += 2 * kLength;
    } else {
      if (high || low) text.replace(at, kLength, "\\ufffd");
      at += 2;
    }
  }
}

std::string ValidJson::with_texts_for_odd_scalars(std::string_view text) {
  constexpr std::string_view kAround = "{}[],: \n\r\t\"";
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    if (text[at] == '"') {
      while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
      end = std::min(end + 1, text.size());
      out += text.substr(at, end - at);
    } else if (kAround.find(text[at]) != std::string_view::npos) {
      out += text[at];
    } else {
      end = std::min(text.find_first_of(kAround, at), text.size());
      const std::string_view scalar = text.substr(at, end - at);
      const bool fine = is_valid(scalar);
      out.append(fine ? "" : "\"").append(scalar).append(fine ? "" : "\"");
    }
    at = end;
  }
  return out;
}

}  // namespace gapscope
