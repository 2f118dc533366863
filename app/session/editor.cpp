#include "app/session/editor.h"

#include <spawn.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "core/base/text.h"

extern char** environ;

namespace gapscope {
namespace {

bool put_in(std::string& text, const std::string& key, const std::string& value) {
  const std::size_t at = text.find(key);
  if (at == text.npos) return false;
  text.replace(at, key.size(), value);
  return true;
}

}  // namespace

std::vector<std::string> editor_command(const std::string& setting, const std::string& file, std::int64_t line) {
  std::istringstream words(setting.empty() ? "code -g" : setting);
  std::vector<std::string> command;
  bool has_file = false;
  for (std::string word; words >> word;) {
    put_in(word, "{line}", std::to_string(line));
    has_file |= put_in(word, "{file}", file);
    command.push_back(word);
  }
  if (!has_file) command.push_back(file + ":" + std::to_string(line));
  return command;
}

std::optional<Error> open_in_editor(const std::string& file, std::int64_t line) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored))
    return Error{printable(file) + " is not on this machine: the trace was recorded elsewhere, or from another folder."};
  const char* setting = std::getenv("GAPSCOPE_EDITOR");
  std::vector<std::string> command = editor_command(setting ? setting : "", file, line);
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t process = 0;
  const int failed = posix_spawnp(&process, arguments[0], nullptr, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (failed == 0) return std::nullopt;
  return Error{"The editor " + printable(command[0]) +
               " could not be started: set GAPSCOPE_EDITOR to one, as in \"code -g\" or "
               "\"pycharm --line {line} {file}\"."};
}

}  // namespace gapscope
