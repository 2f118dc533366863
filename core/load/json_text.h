#pragma once
// What a JSON string says.
#include <string>
#include <string_view>

namespace gapscope {

// Resolves the escapes of a JSON string's content into `out`; false when an escape is invalid. Lone surrogates become U+FFFD.
bool unescape(std::string_view content, std::string& out);

}  // namespace gapscope
