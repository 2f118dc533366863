#pragma once
// A line of a source file in the editor of the person who asks, and a file in the program that the desktop has for it.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/failure.h"

namespace gapscope {

// The program and its arguments of a setting ("code -g", "pycharm --line {line} {file}"), an empty one `code -g`; {file} and
// {line} are put in, or FILE:LINE is added. "$EDITOR" is what that variable, or $VISUAL before it, names, in a terminal of its
// own: the `editor` is its value.
std::vector<std::string> editor_command(const std::string& setting, const std::string& file, std::int64_t line,
                                        const std::string& editor = {});
// Starts it and does not wait for it; an error where there is no such file or program. $GAPSCOPE_EDITOR goes before the
// setting.
std::optional<Error> open_in_editor(const std::string& setting, const std::string& file, std::int64_t line);

bool has_desktop();  // else nothing opens there
std::optional<Error> open_on_desktop(const std::string& file);
// Once, where what was to open it ended soon and without having done so.
std::optional<Error> take_desktop_trouble();

}  // namespace gapscope
