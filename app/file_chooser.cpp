#include "app/file_chooser.h"

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
std::vector<std::string> arguments(const std::string& program, const std::string& folder) {
  if (program.ends_with("kdialog")) return {program, "--title", "Open a trace", "--getopenfilename", folder.empty() ? "." : folder};
  std::vector<std::string> words{program, "--file-selection", "--title=Open a trace"};
  if (!folder.empty()) words.push_back("--filename=" + folder);
  return words;
}

std::string read_all(int from) {
  std::string text;
  char piece[4096];
  for (ssize_t n = 0; (n = read(from, piece, sizeof piece)) > 0;) text.append(piece, static_cast<std::size_t>(n));
  return text;
}

}  // namespace

FileChooser::FileChooser(std::function<void()> wake)
    : program_(found_chooser()), job_([this](const Question& q) { return choose(q); }, std::move(wake)) {}

FileChooser::~FileChooser() {
  ends_ = true;
  close();
}

void FileChooser::ask(Question question) {
  if (!available()) return;
  close();
  job_.ask(std::move(question));
}

void FileChooser::close() {
  if (const int process = process_) kill(process, SIGTERM);
}

FileChooser::Answer FileChooser::choose(const Question& question) {
  int ends[2];
  if (ends_ || pipe2(ends, O_CLOEXEC) != 0) return {"", question.beside};
  std::vector<std::string> words = arguments(program_, question.folder);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  pid_t process = 0;
  const bool runs = posix_spawn(&process, program_.c_str(), &actions, nullptr, argv.data(), environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::string path;
  if (runs) {
    process_ = process;
    if (ends_) close();  // asked for before the number was there
    path = read_all(ends[0]);
    process_ = 0;  // before it is waited for: from then on the number may be another program's
    waitpid(process, nullptr, 0);
  }
  ::close(ends[0]);
  while (path.ends_with('\n')) path.pop_back();
  return {std::move(path), question.beside};
}

}  // namespace gapscope
