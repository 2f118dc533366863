#include "app/serve/address.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace gapscope {
namespace {

enum class Plus { as_it_is, space };

std::optional<std::string> decoded(std::string_view text, Plus plus) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned code = static_cast<unsigned char>(text[i]);
    if (text[i] == '%') {
      if (i + 2 >= text.size()) return {};
      const char* const end = text.data() + i + 3;
      if (std::from_chars(text.data() + i + 1, end, code, 16).ptr != end) return {};
      i += 2;
    } else if (text[i] == '+' && plus == Plus::space) {
      code = ' ';
    }
    if (code == 0) return {};
    out += static_cast<char>(code);
  }
  return out;
}

bool add_value(std::string_view pair, Address& out) {
  const std::size_t equals = std::min(pair.find('='), pair.size());
  const auto name = decoded(pair.substr(0, equals), Plus::space);
  const auto value = decoded(pair.substr(std::min(equals + 1, pair.size())), Plus::space);
  if (name && value && !name->empty()) out.values.emplace_back(*name, *value);
  return name && value;
}

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-._~/").find(c) != std::string_view::npos;
}

}  // namespace

std::string Address::value(std::string_view name) const {
  for (const auto& [key, text] : values)
    if (key == name) return text;
  return {};
}

std::optional<Address> parse_address(std::string_view target) {
  target = target.substr(0, target.find('#'));
  const std::size_t question = std::min(target.find('?'), target.size());
  const auto path = decoded(target.substr(0, question), Plus::as_it_is);
  if (!path || !path->starts_with('/') || path->starts_with("//")) return {};
  Address out{*path, {}};
  std::string_view rest = target.substr(std::min(question + 1, target.size()));
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('&'), rest.size());
    if (!add_value(rest.substr(0, end), out)) return {};
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

std::string address_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (is_plain(c))
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
  return out;
}

}  // namespace gapscope
