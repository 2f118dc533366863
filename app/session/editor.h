#pragma once
// A line of a source file in the editor of the person who asks.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/failure.h"

namespace gapscope {

// The program and its arguments: of $GAPSCOPE_EDITOR where it is set ("code -g", "pycharm --line {line} {file}"), else `code
// -g`; {file} and {line} are put in, or FILE:LINE is added. $EDITOR is not taken by itself: most of those need a terminal.
std::vector<std::string> editor_command(const std::string& setting, const std::string& file, std::int64_t line);
// Starts it and does not wait for it; an error where there is no such file or program.
std::optional<Error> open_in_editor(const std::string& file, std::int64_t line);

}  // namespace gapscope
