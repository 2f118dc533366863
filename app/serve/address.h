#pragma once
// What an address asks for: the part behind the host, decoded once, and the way back.
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gapscope {

struct Address {
  std::string path;  // begins with /; any byte but NUL
  std::vector<std::pair<std::string, std::string>> values;

  // The first of this name; empty where there is none.
  std::string value(std::string_view name) const;
};

// None where it is no path below one host (//host is another one), or holds a NUL or a % without two digits.
std::optional<Address> parse_address(std::string_view target);

// So that parse_address() gives back what it was; a / stays.
std::string address_text(std::string_view text);

}  // namespace gapscope
