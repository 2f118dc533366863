#pragma once
#include <string>
#include <string_view>

namespace gapscope {

// Any bytes as letters, digits, '+', '/' and '=' (RFC 4648), without line ends.
std::string base64_text(std::string_view bytes);

}  // namespace gapscope
