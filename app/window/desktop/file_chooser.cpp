#include "app/window/file_chooser.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "app/window/desktop/portal_chooser.h"

extern char** environ;

namespace gapscope {
namespace {

std::string on_path(std::string_view program) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path ? path : "";
  while (!rest.empty()) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    const std::string candidate = (std::filesystem::path(rest.substr(0, colon)) / program).string();
    if (colon > 0 && access(candidate.c_str(), X_OK) == 0) return candidate;
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return {};
}

std::string found_chooser() {
  std::string program = on_path("zenity");
  return program.empty() ? on_path("kdialog") : program;
}

// No shell in between: a folder's name is data.
std::vector<std::string> arguments(const std::string& program, const std::string& folder, bool several) {
  if (program.ends_with("kdialog"))
    return several ? std::vector<std::string>{program,
                                              "--title",
                                              "Open a trace",
                                              "--multiple",
                                              "--separate-output",
                                              "--getopenfilename",
                                              folder.empty() ? "." : folder}
                   : std::vector<std::string>{program, "--title", "Open a trace", "--getopenfilename",
                                              folder.empty() ? "." : folder};
  std::vector<std::string> words{program, "--file-selection", "--title=Open a trace"};
  if (several) words.insert(words.end(), {"--multiple", "--separator=\n"});
  if (!folder.empty()) words.push_back("--filename=" + folder);
  return words;
}

// One name a line.
std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string read_all(int from) {
  std::string text;
  char piece[4096];
  for (ssize_t n = 0; (n = read(from, piece, sizeof piece)) > 0;) text.append(piece, static_cast<std::size_t>(n));
  return text;
}

}  // namespace

FileChooser::FileChooser(std::function<void()> wake)
    : run_(std::make_shared<Run>()),
      job_(
          "open the file chooser", [run = run_](const Question& q) { return run->choose(q); }, wake),
      look_for_portal_(
          "look for a file chooser", [run = run_](const std::monostate&) { return run->has_portal = has_portal_chooser(); },
          wake) {
  run_->program = found_chooser();
  look_for_portal_.ask({});
}

FileChooser::~FileChooser() {
  run_->ends = true;
  run_->close();
}

void FileChooser::ask(Question question) {
  if (!available()) return;
  run_->close();
  question.turn = ++run_->turn;
  job_.ask(std::move(question));
}

void FileChooser::Run::close() {
  if (const int running = process) kill(running, SIGTERM);
}

FileChooser::Answer FileChooser::Run::choose(const Question& question) {
  const auto ended = [&] { return ends || turn != question.turn; };
  if (!question.save_as.empty()) {
    const std::optional<std::vector<std::string>> path = save_by_portal(question.folder, question.save_as, ended);
    return {path.value_or(std::vector<std::string>()), question.as_second, /*saves=*/true, path.has_value()};
  }
  const bool several = !question.as_second;
  std::optional<std::vector<std::string>> paths;
  if (has_portal) paths = choose_by_portal(question.folder, several, ended);
  return {paths ? *paths : choose_by_program(question.folder, several), question.as_second, /*saves=*/false,
          /*was_shown=*/true};
}

std::vector<std::string> FileChooser::Run::choose_by_program(const std::string& folder, bool several) {
  int pipe_ends[2];
  if (ends || program.empty() || pipe2(pipe_ends, O_CLOEXEC) != 0) return {};
  std::vector<std::string> words = arguments(program, folder, several);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  pid_t started = 0;
  const bool runs = posix_spawn(&started, program.c_str(), &actions, nullptr, argv.data(), environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  ::close(pipe_ends[1]);
  std::string text;
  if (runs) {
    process = started;
    if (ends) close();  // asked for before the number was there
    text = read_all(pipe_ends[0]);
    process = 0;  // before it is waited for: from then on the number may be another program's
    waitpid(started, nullptr, 0);
  }
  ::close(pipe_ends[0]);
  return lines_of(text);
}

}  // namespace gapscope
