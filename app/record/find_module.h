#pragma once
// Libraries that a command loads when it needs them: next to the program in a build, in ../lib/gapscope where it is installed.
#include <string>
#include <string_view>

namespace gapscope {

// Its whole path; empty where there is none. `program`: the path of the program.
std::string find_module(const std::string& program, std::string_view name);

}  // namespace gapscope
