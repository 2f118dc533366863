#include "app/session/editor.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <utility>

#include "core/base/huge_pages.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

bool put_in(std::string& text, const std::string& key, const std::string& value) {
  const std::size_t at = text.find(key);
  if (at == text.npos) return false;
  text.replace(at, key.size(), value);
  return true;
}

// Names in a trace may begin as an option does.
std::string no_option(const std::string& file) { return file.starts_with('-') || file.starts_with('+') ? "./" + file : file; }

constexpr std::chrono::seconds kOpensWithin{10};  // a program that xdg-open stays in may end by itself later

struct Running {
  pid_t process = 0;
  std::string opens;  // the file that it hands to the desktop's program
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
};
// The UI thread's own.
std::vector<Running> running;
std::optional<std::string> unopened;

// Those that have ended since are waited for, so that none is left as a zombie.
void wait_for_ended() {
  std::erase_if(running, [](const Running& one) {
    int status = 0;
    const pid_t ended = ::waitpid(one.process, &status, WNOHANG);
    const bool soon = std::chrono::steady_clock::now() - one.begin < kOpensWithin;
    if (ended == one.process && status != 0 && soon && !one.opens.empty()) unopened = one.opens;
    return ended != 0;
  });
}

// Does not wait for it. False where there is no such program.
bool start(std::vector<std::string> command, const std::string& opens = {}) {
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t process = 0;
  const HugePages allowed;  // in the program that is started, too
  const int failed = posix_spawnp(&process, arguments[0], nullptr, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  wait_for_ended();
  if (failed == 0) running.push_back({process, opens});
  return failed == 0;
}

}  // namespace

std::vector<std::string> editor_command(const std::string& setting, const std::string& file, std::int64_t line,
                                        const std::string& editor) {
  const std::string path = no_option(file);
  if (setting == "$EDITOR") {
    std::vector<std::string> command = {"x-terminal-emulator", "-e"};
    std::istringstream words(editor.empty() ? "vi" : editor);
    for (std::string word; words >> word;) command.push_back(word);
    command.push_back("+" + std::to_string(line));
    command.push_back(path);
    return command;
  }
  std::istringstream words(setting.empty() ? "code -g" : setting);
  std::vector<std::string> command;
  bool has_file = false;
  for (std::string word; words >> word;) {
    put_in(word, "{line}", std::to_string(line));
    has_file |= put_in(word, "{file}", path);
    command.push_back(word);
  }
  if (!has_file) command.push_back(path + ":" + std::to_string(line));
  return command;
}

std::optional<Error> open_in_editor(const std::string& setting, const std::string& file, std::int64_t line) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored))
    return Error{printable(file) + " is not on this machine. Set its folder in View > Editor and sources."};
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value ? value : "");
  };
  const std::string forced = variable("GAPSCOPE_EDITOR"), visual = variable("VISUAL");
  std::vector<std::string> command =
      editor_command(forced.empty() ? setting : forced, file, line, visual.empty() ? variable("EDITOR") : visual);
  if (start(command)) return std::nullopt;
  return Error{"The editor " + printable(command[0]) +
               " could not be started: choose another one in View > Editor and sources."};
}

bool has_desktop() { return true; }

std::optional<Error> open_on_desktop(const std::string& file) {
  if (start({"xdg-open", no_option(file)}, file)) return std::nullopt;
  return Error{"xdg-open, which opens files, could not be started: " + printable(file) + " is where it was saved."};
}

std::optional<Error> take_desktop_trouble() {
  wait_for_ended();
  const std::optional<std::string> file = std::exchange(unopened, std::nullopt);
  if (!file) return std::nullopt;
  return Error{"xdg-open could not open it: " + printable(*file) + " is where it was saved."};
}

}  // namespace gapscope
