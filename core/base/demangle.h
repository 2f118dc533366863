#pragma once
// C++ names as people write them. Kernel names in a trace are plain or mangled (Itanium ABI, "_ZN2at6native...").
#include <string>
#include <string_view>

namespace gapscope {

// The readable form of a mangled name; any other text, and a name too large to be worth it, comes back unchanged.
std::string demangle(std::string_view name);

}  // namespace gapscope
