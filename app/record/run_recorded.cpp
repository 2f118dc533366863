#include "app/record/run_recorded.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "app/record/trace_pieces.h"

namespace gapscope {
namespace {

namespace fs = std::filesystem;

pid_t child = 0;  // for the handler

void pass_on(int signal) {
  if (child > 0) kill(child, signal);
}

// Ctrl+C reaches the program by itself, it stands in the same group; what is sent to us alone is passed on.
class Signals {
 public:
  Signals() {
    take(SIGINT, SIG_IGN);
    take(SIGQUIT, SIG_IGN);
    take(SIGTERM, pass_on);
    take(SIGHUP, pass_on);
  }
  ~Signals() {
    for (const auto& [signal, before] : before_) sigaction(signal, &before, nullptr);
  }
  void restore_in_child() const {
    for (const auto& [signal, before] : before_) sigaction(signal, &before, nullptr);
  }

 private:
  void take(int signal, void (*handler)(int)) {
    struct sigaction ours {}, before {};
    ours.sa_handler = handler;
    sigaction(signal, &ours, &before);
    before_.emplace_back(signal, before);
  }
  std::vector<std::pair<int, struct sigaction>> before_;
};

void put_into_environment(const RecordingOptions& options, const std::string& library) {
  put_in_environment(options);
  setenv("CUDA_INJECTION64_PATH", library.c_str(), 1);
  setenv("NVTX_INJECTION64_PATH", library.c_str(), 1);
}

// In the child: becomes the program, or says why not through the pipe.
[[noreturn]] void become(const std::vector<std::string>& command, int pipe) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));  // exec's interface is not const
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  const int why = errno;
  [[maybe_unused]] const ssize_t told = write(pipe, &why, sizeof why);
  _exit(127);
}

int exit_code_of(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

int wait_for(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {}
  return exit_code_of(status);
}

// Files of the recording: the path asked for, and that with a process's number before its ending.
std::vector<std::string> files_of(const std::string& out, const std::string& suffix) {
  std::vector<std::string> found;
  const fs::path path(out);
  const std::string pattern = path_of_process(path.filename().string(), 0);  // "a.0.json.gz"
  const std::size_t zero = pattern.rfind(".0.");
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(path.has_parent_path() ? path.parent_path() : ".", ignored)) {
    std::string name = entry.path().filename().string();
    if (!name.ends_with(suffix)) continue;
    name.resize(name.size() - suffix.size());
    const bool of_process = zero != std::string::npos && name.starts_with(pattern.substr(0, zero + 1)) && name.ends_with(pattern.substr(zero + 2)) &&
                            name.find_first_not_of("0123456789", zero + 1) == name.size() - (pattern.size() - zero - 2);
    if (name == path.filename().string() || of_process) found.push_back((path.parent_path() / name).string());
  }
  std::sort(found.begin(), found.end(), [](const std::string& a, const std::string& b) { return a.size() != b.size() ? a.size() < b.size() : a < b; });
  return found;
}

std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// A folder of our own, so that no other file is mistaken for the recorder's word.
std::string status_folder() {
  std::string folder = (fs::temp_directory_path() / "gapscope-record-XXXXXX").string();
  return mkdtemp(folder.data()) ? folder : std::string();
}

void forget_old_recording(const std::string& out) {
  std::error_code ignored;
  for (const std::string& path : files_of(out, ".partial")) fs::remove(TracePieces::partial_name(path), ignored);
}

void finish_files(const std::string& out, fs::file_time_type since, Recorded& recorded) {
  for (const std::string& path : files_of(out, ".partial")) {
    const std::string wrong = finish_partial(path, kTraceTail);
    recorded.sentences.push_back(wrong.empty() ? path + ": the recording was cut off; what was written until then is kept." : wrong);
  }
  std::error_code ignored;
  for (const std::string& path : files_of(out, ""))
    if (fs::last_write_time(path, ignored) >= since) recorded.traces.push_back(path);
}

}  // namespace

std::string find_recorder(const std::string& executable) {
  if (const char* named = std::getenv("GAPSCOPE_RECORDER"); named && *named) return named;
  const fs::path folder = fs::path(executable).parent_path();
  for (const fs::path& place : {folder / "libgapscope_sampler.so", folder.parent_path() / "lib/gapscope/libgapscope_sampler.so"}) {
    std::error_code trouble;
    if (fs::exists(place, trouble)) return fs::absolute(place).string();
  }
  return {};
}

Result<Recorded> run_recorded(const std::vector<std::string>& command, RecordingOptions options, const std::string& library) {
  options.out = fs::absolute(options.out).string();  // the program may change its folder
  const std::string folder = status_folder();
  options.status = folder.empty() ? "" : folder + "/status";
  forget_old_recording(options.out);
  const fs::file_time_type begin = fs::file_time_type::clock::now() - std::chrono::seconds(1);  // file systems count coarsely

  int told[2];
  if (pipe2(told, O_CLOEXEC) != 0) return Error{std::string("No pipe to start the program with: ") + std::strerror(errno) + "."};
  Recorded recorded;
  int why = 0;
  {
    const Signals signals;
    child = fork();
    if (child == 0) {
      signals.restore_in_child();
      put_into_environment(options, library);
      become(command, told[1]);
    }
    close(told[1]);
    const bool failed = read(told[0], &why, sizeof why) == sizeof why;
    close(told[0]);
    recorded.exit_code = wait_for(child);
    child = 0;
    if (!failed) why = 0;
  }
  if (!options.status.empty()) recorded.sentences = lines_of(options.status);
  std::error_code ignored;
  if (!folder.empty()) fs::remove_all(folder, ignored);
  if (why == ENOENT) return Error{command[0] + ": there is no such program. Is it spelled right, and on the PATH?"};
  if (why != 0) return Error{command[0] + ": cannot be started: " + std::strerror(why) + "."};
  finish_files(options.out, begin, recorded);
  return recorded;
}

}  // namespace gapscope
