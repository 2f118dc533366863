#include "core/load/event_repair.h"

#include "core/load/json_text.h"

namespace gapscope {
namespace {

// A quote that closes a string is followed by what may follow a string. In a key position only ':' may.
bool closes_string(std::string_view text, std::size_t quote, bool is_key) {
  const std::size_t next = skip_json_space(text, quote + 1);
  if (next == text.size()) return true;
  if (is_key) return text[next] == ':';
  if (text[next] == '}' || text[next] == ']') return true;
  if (text[next] != ',') return false;
  const std::size_t item = skip_json_space(text, next + 1);
  return item == text.size() || text[item] == '"' || text[item] == '{' || text[item] == '[' || text[item] == '-' ||
         text[item] == '}' || text[item] == ']' || (text[item] >= '0' && text[item] <= '9') || text[item] == 't' ||
         text[item] == 'f' || text[item] == 'n' || text[item] == 'N';
}

constexpr bool is_escape(char c) {
  return c == '"' || c == '\\' || c == '/' || c == 'b' || c == 'f' || c == 'n' || c == 'r' || c == 't';
}

constexpr bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

bool is_unicode_escape(std::string_view text, std::size_t backslash) {
  if (backslash + 6 > text.size() || text[backslash + 1] != 'u') return false;
  return is_hex(text[backslash + 2]) && is_hex(text[backslash + 3]) && is_hex(text[backslash + 4]) &&
         is_hex(text[backslash + 5]);
}

// Length of the valid UTF-8 sequence at `at`, 0 when it is invalid. Table 3-7 of the Unicode standard.
std::size_t utf8_sequence(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto continues = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xBF) {
    return byte(i) >= low && byte(i) <= high;
  };
  const unsigned c = byte(at);
  if (c < 0x80) return 1;
  if (c >= 0xC2 && c <= 0xDF) return continues(at + 1) ? 2 : 0;
  if (c >= 0xE0 && c <= 0xEF) {
    const unsigned low = c == 0xE0 ? 0xA0 : 0x80;
    const unsigned high = c == 0xED ? 0x9F : 0xBF;
    return continues(at + 1, low, high) && continues(at + 2) ? 3 : 0;
  }
  if (c >= 0xF0 && c <= 0xF4) {
    const unsigned low = c == 0xF0 ? 0x90 : 0x80;
    const unsigned high = c == 0xF4 ? 0x8F : 0xBF;
    return continues(at + 1, low, high) && continues(at + 2) && continues(at + 3) ? 4 : 0;
  }
  return 0;
}

// Copies an event and mends it on the way.
class Mender {
 public:
  Mender(std::string_view event, Repairs& repairs) : in_(event), repairs_(repairs) { out_.reserve(event.size() + 64); }

  Mended run() {
    bool closed = false;
    while (at_ < in_.size() && !closed) {
      if (in_[at_] == '"') {
        take_string();
      } else {
        take_structure();
        closed = nesting_.empty();
      }
    }
    return {std::move(out_), at_, closed};
  }

 private:
  void take_structure() {
    const char c = in_[at_];
    if (c == ',') {
      const std::size_t next = skip_json_space(in_, at_ + 1);
      if (next < in_.size() && (in_[next] == '}' || in_[next] == ']')) {
        ++repairs_.commas;
        ++at_;
        return;
      }
    }
    if (c == '{') nesting_ += '{';
    if (c == '[') nesting_ += '[';
    if ((c == '}' || c == ']') && !nesting_.empty()) nesting_.pop_back();
    if (c == '{' || c == ',') expect_key_ = c == '{' || (!nesting_.empty() && nesting_.back() == '{');
    if (c == ':' || c == '[') expect_key_ = false;
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80 && utf8_sequence(in_, at_) == 0) {
      ++repairs_.utf8;
      out_ += ' ';
    } else {
      out_ += c;
    }
    ++at_;
  }

  void take_string() {
    const bool is_key = expect_key_;
    out_ += in_[at_++];
    while (at_ < in_.size()) {
      const char c = in_[at_];
      if (c == '"' && closes_string(in_, at_, is_key)) {
        out_ += c;
        ++at_;
        return;
      }
      take_character(c);
    }
  }

  void take_character(char c) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"') {
      ++repairs_.quotes;
      out_ += "\\\"";
      ++at_;
    } else if (c == '\\') {
      take_escape();
    } else if (byte < 0x20) {
      constexpr std::string_view kHex = "0123456789abcdef";
      ++repairs_.control_characters;
      out_ += "\\u00";
      out_ += kHex[byte >> 4];
      out_ += kHex[byte & 15];
      ++at_;
    } else {
      take_utf8();
    }
  }

  void take_escape() {
    const char next = at_ + 1 < in_.size() ? in_[at_ + 1] : '\0';
    // A quote after a backslash that nevertheless ends the string: a Windows path that ends in a backslash.
    const bool ends_path = next == '"' && closes_string(in_, at_ + 1, expect_key_) && !has_later_close(at_ + 2);
    if ((is_escape(next) && !ends_path) || is_unicode_escape(in_, at_)) {
      out_ += in_.substr(at_, 2);
      at_ += 2;
    } else {
      ++repairs_.escapes;
      out_ += "\\\\";
      ++at_;
    }
  }

  // Another closing quote before the next structure makes an escaped quote plausible.
  bool has_later_close(std::size_t from) const {
    for (std::size_t i = from; i < in_.size(); ++i) {
      if (in_[i] == '\\') {
        ++i;
      } else if (in_[i] == '"') {
        return closes_string(in_, i, expect_key_);
      }
    }
    return false;
  }

  void take_utf8() {
    const std::size_t length = utf8_sequence(in_, at_);
    if (length == 0) {
      ++repairs_.utf8;
      out_ += "\xEF\xBF\xBD";
      ++at_;
    } else {
      out_ += in_.substr(at_, length);
      at_ += length;
    }
  }

  std::string_view in_;
  Repairs& repairs_;
  std::string out_;
  std::string nesting_;
  std::size_t at_ = 0;
  bool expect_key_ = true;
};

}  // namespace

void Repairs::report(LoadReport& report, std::uint64_t offset, std::string_view text) const {
  const auto add = [&](ImportIssue kind, std::uint32_t count) {
    if (count != 0) report.add(kind, offset, text, count);
  };
  add(ImportIssue::control_character, control_characters);
  add(ImportIssue::unescaped_quote, quotes);
  add(ImportIssue::invalid_escape, escapes);
  add(ImportIssue::invalid_utf8, utf8);
  add(ImportIssue::trailing_comma, commas);
}

Mended repair_event(std::string_view event, Repairs& repairs) { return Mender(event, repairs).run(); }

}  // namespace gapscope
