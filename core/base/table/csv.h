#pragma once
// Comma-separated values (RFC 4180), for all that writes them.
#include <string>
#include <string_view>

namespace gapscope {

// In quotes where it has to be. A text that a spreadsheet would take for a formula (it begins with = + - or @, and is no plain
// number) gets an apostrophe before it; control bytes other than line feeds and tabs become U+FFFD (of \r\n the \r goes).
std::string csv_cell(std::string_view text);

}  // namespace gapscope
