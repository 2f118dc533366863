#pragma once
// Cells of comma-separated values (RFC 4180).
#include <string>
#include <string_view>

namespace gapscope {

// In quotes where it has to be.
inline std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\n\r") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

}  // namespace gapscope
