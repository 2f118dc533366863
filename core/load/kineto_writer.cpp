#include "core/load/kineto_writer.h"

#include <array>
#include <charconv>
#include <cmath>

#include "core/base/hidden_character.h"

namespace gapscope {

void append_number(std::string& out, std::int64_t number) {
  std::array<char, 24> digits{};
  out.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
}

void append_us(std::string& out, Ns ns) {
  std::uint64_t size = static_cast<std::uint64_t>(ns);
  if (ns < 0) {
    out += '-';
    size = 0 - size;
  }
  std::array<char, 24> digits{};
  out.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), size / 1000).ptr);
  const std::uint64_t rest = size % 1000;
  out += '.';
  out += static_cast<char>('0' + rest / 100);
  out += static_cast<char>('0' + rest / 10 % 10);
  out += static_cast<char>('0' + rest % 10);
}

void append_json_string(std::string& out, std::string_view text) {
  constexpr const char* kHex = "0123456789abcdef";
  out += '"';
  while (!text.empty()) {
    const std::size_t plain = [&] {
      std::size_t n = 0;
      for (; n < text.size(); ++n)
        if (const auto c = static_cast<unsigned char>(text[n]); c < 0x20 || c >= 0x7f || c == '"' || c == '\\') break;
      return n;
    }();
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    const auto c = static_cast<unsigned char>(text[0]);
    std::size_t length = 1;
    if (c == '"' || c == '\\') {
      out += '\\';
      out += text[0];
    } else if (c < 0x20) {
      out += "\\u00";
      out += kHex[c >> 4];
      out += kHex[c & 15];
    } else if (c == 0x7f) {
      out += text[0];
    } else {
      length = first_character(text).bytes;
      out.append(length == 1 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, length));
    }
    text.remove_prefix(length);
  }
  out += '"';
}

void KinetoWriter::begin(char phase, std::string_view category, std::string_view name, KinetoPlace at, std::optional<Ns> time) {
  out_ += is_first_ ? "\n{\"ph\":\"" : ",\n{\"ph\":\"";
  is_first_ = false;
  ++events_;
  out_ += phase;
  out_ += '"';
  if (!category.empty()) {
    out_ += ",\"cat\":\"";
    out_ += category;
    out_ += '"';
  }
  out_ += ",\"name\":";
  append_json_string(out_, name);
  out_ += ",\"pid\":";
  out_ += at.pid;
  out_ += ",\"tid\":";
  out_ += at.tid;
  if (time) {
    out_ += ",\"ts\":";
    append_us(out_, *time);
  }
  has_args_ = false;
}

void KinetoWriter::slice(std::string_view category, std::string_view name, KinetoPlace at, std::optional<Ns> start,
                         std::optional<Ns> length) {
  begin(length ? 'X' : 'B', category, name, at, start);
  if (!length) return;
  out_ += ",\"dur\":";
  append_us(out_, *length);
}

void KinetoWriter::instant(std::string_view category, std::string_view name, KinetoPlace at, std::optional<Ns> time) {
  begin('i', category, name, at, time);
  out_ += ",\"s\":\"t\"";
}

void KinetoWriter::counter(std::string_view name, KinetoPlace at, std::optional<Ns> time, double value) {
  begin('C', {}, name, at, time);
  arg("", value);
  end();
}

void KinetoWriter::name(std::string_view what, KinetoPlace at, std::string_view key, std::string_view text) {
  begin('M', {}, what, at, 0);
  --events_;
  arg(key, text);
  end();
}

void KinetoWriter::sort_index(std::string_view what, KinetoPlace at, std::int64_t index) {
  begin('M', {}, what, at, 0);
  --events_;
  arg("sort_index", index);
  end();
}

void KinetoWriter::key(std::string_view key) {
  out_ += has_args_ ? "," : ",\"args\":{";
  has_args_ = true;
  append_json_string(out_, key);
  out_ += ':';
}

void KinetoWriter::arg(std::string_view key, std::int64_t number) {
  this->key(key);
  append_number(out_, number);
}

void KinetoWriter::arg(std::string_view key, double number) {
  if (!std::isfinite(number)) return;
  this->key(key);
  std::array<char, 32> digits{};
  out_.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
}

void KinetoWriter::arg(std::string_view key, std::string_view text) {
  this->key(key);
  append_json_string(out_, text);
}

void KinetoWriter::arg(std::string_view key, std::initializer_list<std::int64_t> numbers) {
  this->key(key);
  out_ += '[';
  for (const std::int64_t* n = numbers.begin(); n != numbers.end(); ++n) {
    if (n != numbers.begin()) out_ += ',';
    append_number(out_, *n);
  }
  out_ += ']';
}

void KinetoWriter::json_arg(std::string_view key, std::string_view json) {
  this->key(key);
  out_ += json;
}

void KinetoWriter::end() { out_ += has_args_ ? "}}" : "}"; }

}  // namespace gapscope
