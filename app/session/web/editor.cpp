#include "app/session/editor.h"

namespace gapscope {

std::optional<Error> open_in_editor(const std::string&, const std::string& file, std::int64_t line) {
  return Error{"A page in a browser starts no editor: " + file + ", line " + std::to_string(line) + "."};
}

bool has_desktop() { return false; }

std::optional<Error> open_on_desktop(const std::string& file) {
  return Error{"A page in a browser opens no files: " + file + "."};
}

std::optional<Error> take_desktop_trouble() { return std::nullopt; }

}  // namespace gapscope
