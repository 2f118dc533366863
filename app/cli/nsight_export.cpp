#include "app/cli/nsight_export.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "app/cli/in_and_out.h"
#include "app/record/end_run.h"
#include "app/state/exported_report.h"
#include "core/base/temporary_file.h"
#include "core/base/text.h"

namespace gapscope {

namespace fs = std::filesystem;

// A new folder that is removed with this object. A process of its own waits for the end of this one, so that a killed program
// leaves neither an export behind nor an nsys that writes one. One at a time: a second one's process would hold the first one's
// pipe.
class NsightExports::Folder {
 public:
  explicit Folder(const fs::path& parent) {
    std::string name = (parent / (std::string(kTemporaryPrefix) + "export-XXXXXX")).string();
    int ends[2];
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
    if (path_.empty() || ::pipe2(ends, O_CLOEXEC) != 0) {
      give_up();
      return;
    }
    const pid_t session = ::getsid(0);
    watcher_ = ::fork();
    if (watcher_ < 0) trouble_ = errno;
    if (watcher_ == 0) {
      for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) std::signal(signal, SIG_IGN);
      ::setsid();  // out of reach of what is sent to the whole group
      for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, ends[1]}) ::close(fd);
      char nothing = 0;
      while (::read(ends[0], &nothing, 1) < 0 && errno == EINTR) {
      }
      for (int tries = 0; tries < 2 * kPatience && end_run(assignment(), session, tries < kPatience ? SIGTERM : SIGKILL);
           ++tries)
        ::usleep(kLook_us);
      remove();
      ::_exit(0);
    }
    ::close(ends[0]);
    alive_ = ends[1];
    if (watcher_ < 0) give_up();
  }
  ~Folder() {
    if (alive_ >= 0) ::close(alive_);
    while (watcher_ > 0 && ::waitpid(watcher_, nullptr, 0) < 0 && errno == EINTR) {
    }
    remove();
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const fs::path& path() const { return path_; }
  int trouble() const { return trouble_; }  // errno; 0: there is a folder, and it will be removed
  // By which an nsys that writes here is known.
  std::string assignment() const { return "GAPSCOPE_EXPORT=" + path_.string(); }

 private:
  static constexpr int kPatience = 40;  // looks after SIGTERM, before SIGKILL
  static constexpr useconds_t kLook_us = 50'000;

  void give_up() {
    if (trouble_ == 0) trouble_ = errno;
    remove();
  }
  void remove() const {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }

  fs::path path_;
  int trouble_ = 0;
  int alive_ = -1;  // closed when this process ends
  pid_t watcher_ = -1;
};

namespace {

// Runs nsys. What it prints goes to standard error: standard output is for the answer. An Error where it cannot be started, or
// fails.
std::optional<Error> run_nsys(const fs::path& report, const fs::path& output, std::string assignment) {
  std::array<std::string, 7> words = {"nsys", "export", "--type", "sqlite", "--output", output.string(), report.string()};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::vector<char*> environment{assignment.data()};
  for (char** variable = environ; *variable != nullptr; ++variable) environment.push_back(*variable);
  environment.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t child = 0;
  int status = 0;
  const int trouble = ::posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environment.data());
  while (trouble == 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  ::posix_spawn_file_actions_destroy(&actions);
  if (trouble == ENOENT) return Error{"nsys was not found on the PATH. It comes with Nsight Systems."};
  if (trouble != 0) return Error{fmt::format("nsys cannot be started: {}.", std::strerror(trouble))};
  const std::string shown = printable(report.filename().string());
  if (WIFSIGNALED(status)) return Error{fmt::format("nsys export of {} was ended by signal {}.", shown, WTERMSIG(status))};
  if (WEXITSTATUS(status) != 0) return Error{fmt::format("nsys export of {} failed with code {}.", shown, WEXITSTATUS(status))};
  std::error_code ignored;
  if (!fs::is_regular_file(fs::symlink_status(output, ignored)))
    return Error{fmt::format("nsys export of {} wrote no file.", shown)};
  return std::nullopt;
}

Error is_there(const fs::path& path) {
  return Error{fmt::format("{} exists already. Open it, or remove it first.", printable(path.string()))};
}

}  // namespace

NsightExports::NsightExports() = default;
NsightExports::~NsightExports() = default;

std::optional<Error> NsightExports::replace_reports(std::vector<std::string>& words) {
  const bool runs_another = !words.empty() && words[0] == "record";
  const auto end = [&] { return std::find(words.begin(), words.end(), "--"); };
  bool is_asked = false, stays = false;
  for (auto word = words.begin(); word != end();) {
    const bool is_ours = *word == "--export" || word->starts_with("--export=");
    if (is_ours && *word != "--export" && *word != "--export=keep")
      return Error{"--export takes no value but keep: --export or --export=keep."};
    is_asked |= is_ours;
    stays |= *word == "--export=keep";
    word = is_ours ? words.erase(word) : std::next(word);
  }
  if (!is_asked) return std::nullopt;
  bool has_any = false;
  for (auto word = words.begin(); word != (runs_another ? end() : words.end()); ++word) {
    std::error_code ignored;
    if (!word->ends_with(".nsys-rep") || !fs::is_regular_file(*word, ignored)) continue;
    has_any = true;
    if (std::optional<Error> trouble = replace(*word, stays)) return trouble;
  }
  if (!has_any) return Error{"--export takes a report of Nsight Systems (.nsys-rep), and none was given."};
  return std::nullopt;
}

std::optional<Error> NsightExports::replace(std::string& report, bool stays) {
  std::error_code trouble;
  const fs::path whole = fs::absolute(report, trouble);  // a name may begin with "-"
  const fs::path target = fs::path(whole).replace_extension(".sqlite");
  if (stays && fs::exists(fs::symlink_status(target, trouble))) return is_there(target);
  if (stays || !folder_) {
    const fs::path parent = stays ? whole.parent_path() : fs::absolute(spill_folder());
    folder_.reset();
    folder_ = std::make_unique<Folder>(parent);
    if (const int trouble_there = folder_->trouble(); trouble_there != 0)
      return Error{
          fmt::format("The export cannot be prepared in {}: {}.", printable(parent.string()), std::strerror(trouble_there))};
  }
  // Reports of the same name, in different folders, have exports of the same name.
  const fs::path place = folder_->path() / std::to_string(exports_++);
  fs::create_directory(place, trouble);
  const fs::path output = place / target.filename();
  if (std::optional<Error> failed = run_nsys(whole, output, folder_->assignment())) return failed;
  report = (stays ? target : output).string();
  if (!stays) {
    const std::uintmax_t bytes = fs::file_size(whole, trouble);
    add_export(report, {whole.string(), bytes});
    return std::nullopt;
  }
  const int code = rename_unless_taken(AT_FDCWD, output.c_str(), target.c_str());
  if (code == EEXIST) return is_there(target);
  if (code != 0) return Error{fmt::format("{} cannot be written: {}.", printable(report), std::strerror(code))};
  folder_.reset();
  return std::nullopt;
}

}  // namespace gapscope
