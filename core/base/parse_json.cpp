#include "core/base/parse_json.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/text.h"

namespace gapscope {
namespace {

// The limit that the text is beyond; empty where there is none. Of what is no JSON it says nothing: the parser refuses that
// itself, and needs no stack.
std::string beyond(std::string_view text, const JsonLimits& limits) {
  std::vector<std::size_t> members;  // of each value that is open
  for (std::size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
      case '"':
        for (++i; i < text.size() && text[i] != '"'; ++i) i += text[i] == '\\' ? 1 : 0;
        break;
      case '[':
      case '{':
        if (members.size() == limits.depth) return fmt::format("JSON that is nested deeper than {} levels", limits.depth);
        members.push_back(0);
        break;
      case ']':
      case '}':
        if (!members.empty()) members.pop_back();
        break;
      case ':':
        if (!members.empty() && ++members.back() > limits.members)
          return fmt::format("JSON with more than {} members in one object",
                             format_count(static_cast<std::int64_t>(limits.members)));
        break;
      default: break;
    }
  }
  return {};
}

}  // namespace

Result<nlohmann::ordered_json> parse_json(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.bytes) return Error{fmt::format("JSON of more than {}", format_bytes(limits.bytes))};
  if (std::string trouble = beyond(text, limits); !trouble.empty()) return Error{std::move(trouble)};
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return Error{"no JSON"};
  return json;
}

}  // namespace gapscope
