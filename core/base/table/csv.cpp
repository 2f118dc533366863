#include "core/base/table/csv.h"

#include <algorithm>
#include <charconv>

#include "core/base/text.h"

namespace gapscope {
namespace {

bool is_plain_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error != std::errc::invalid_argument && end == text.data() + text.size();
}

bool reads_as_formula(std::string_view text) {
  return !text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos && !is_plain_number(text);
}

// Line by line and tab by tab, so that these stay. Of a line's end \r\n the \n does; alone \r would write over what is
// before.
std::string without_controls(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find_first_of("\t\n", at), text.size());
    const bool ends_dos_line = end < text.size() && text[end] == '\n' && end > at && text[end - 1] == '\r';
    out += printable(text.substr(at, end - at - (ends_dos_line ? 1 : 0)));
    if (end < text.size()) out += text[end];
    at = end + 1;
  }
  return out;
}

}  // namespace

std::string csv_cell(std::string_view text) {
  const std::string shown = (reads_as_formula(text) ? "'" : "") + without_controls(text);
  if (shown.find_first_of(",\"\n") == std::string::npos) return shown;
  std::string out = "\"";
  for (const char c : shown) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

}  // namespace gapscope
