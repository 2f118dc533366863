#include "app/record/run_recorded.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>

#include "app/record/end_run.h"
#include "app/record/find_module.h"
#include "app/record/piece_name.h"
#include "app/record/trace_pieces.h"

namespace gapscope {
namespace {

namespace fs = std::filesystem;

pid_t child = 0;  // for the handler

void pass_on(int signal, siginfo_t*, void*) {
  if (child > 0) kill(child, signal);
}

// What a process has sent, and not the terminal.
void pass_on_sent(int signal, siginfo_t* info, void*) {
  if (info->si_code <= 0) pass_on(signal, info, nullptr);
}

// Ctrl+C reaches the program by itself, it is in the same group; what is sent to us alone is passed on.
class Signals {
 public:
  Signals() {
    take(SIGINT, pass_on_sent);
    take(SIGQUIT, pass_on_sent);
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
  void take(int signal, void (*handler)(int, siginfo_t*, void*)) {
    struct sigaction ours {
    }, before{};
    ours.sa_sigaction = handler;
    ours.sa_flags = SA_SIGINFO;
    sigaction(signal, &ours, &before);
    before_.emplace_back(signal, before);
  }
  std::vector<std::pair<int, struct sigaction>> before_;
};

// Until we know whom to pass them on to.
class SignalsHeldBack {
 public:
  SignalsHeldBack() {
    sigset_t passed_on;
    sigemptyset(&passed_on);
    for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) sigaddset(&passed_on, signal);
    sigprocmask(SIG_BLOCK, &passed_on, &before_);
  }
  void let_go() const { sigprocmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

void put_into_environment(const RecordingOptions& options, const std::string& library) {
  put_in_environment(options);
  if (options.counters_only) return;
  setenv("CUDA_INJECTION64_PATH", library.c_str(), 1);
  setenv("NVTX_INJECTION64_PATH", library.c_str(), 1);
}

// In the child: becomes the program, which is asked to end when `parent` is gone without a word, or says why not through the
// pipe.
[[noreturn]] void become(const std::vector<std::string>& command, int pipe, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(127);
  std::vector<char*> arguments;
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str()));  // exec's interface is not const
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  const int why = errno;
  [[maybe_unused]] const ssize_t written = write(pipe, &why, sizeof why);
  _exit(127);
}

int exit_code_of(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

int wait_for(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return exit_code_of(status);
}

// A folder of our own, so that no other file is mistaken for the recorders' word; with the recording where there is no other
// place.
std::string status_folder(const std::string& out) {
  std::error_code ignored;
  for (const fs::path& place : {fs::temp_directory_path(ignored), fs::path(out).parent_path()}) {
    std::string folder = (place / "gapscope-record-XXXXXX").string();
    if (!place.empty() && mkdtemp(folder.data())) return folder;
  }
  return {};
}

// A process that takes the file and its folder away when this one has let go of a socket, however it ended; where that was
// without a word, it asks what is left of the program to end as well.
class RemovedAtTheEnd {
 public:
  RemovedAtTheEnd(const std::string& file, const std::string& folder, const std::string& run) {
    std::array<int, 2> ends{-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return;
    const pid_t session = getsid(0);
    process_ = fork();
    if (process_ == 0) wait_and_remove(file.c_str(), folder.c_str(), ends[0], run, session);
    close(ends[0]);
    held_ = ends[1];
  }
  ~RemovedAtTheEnd() {
    constexpr char kWord = '.';
    [[maybe_unused]] const ssize_t written = held_ >= 0 ? send(held_, &kWord, 1, MSG_NOSIGNAL) : 0;
    if (held_ >= 0) close(held_);
    if (process_ > 0) waitpid(process_, nullptr, 0);
  }
  RemovedAtTheEnd(const RemovedAtTheEnd&) = delete;
  RemovedAtTheEnd& operator=(const RemovedAtTheEnd&) = delete;

 private:
  // Out of reach of a terminal's signals, and holding nothing that others wait for.
  [[noreturn]] static void wait_and_remove(const char* file, const char* folder, int other_end, const std::string& run,
                                           pid_t session) noexcept {
    setsid();
    dup2(other_end, STDIN_FILENO);
    close_range(STDIN_FILENO + 1, ~0U, 0);
    char word = 0;
    ssize_t heard = 0;
    while ((heard = read(STDIN_FILENO, &word, 1)) < 0 && errno == EINTR) {
    }
    if (heard == 0) end_run(std::string(kRecordRun) + '=' + run, session);
    unlink(file);
    rmdir(folder);
    _exit(0);
  }

  pid_t process_ = -1;
  int held_ = -1;
};

// The file of that folder, and the folder for as long as it is needed.
class StatusFile {
 public:
  StatusFile(const std::string& out, const std::string& run) : folder_(status_folder(out)) {
    if (folder_.empty()) return;
    std::ofstream begun(path());
    removed_.emplace(path(), folder_, run);
  }
  ~StatusFile() {
    removed_.reset();
    std::error_code ignored;
    if (!folder_.empty()) fs::remove_all(folder_, ignored);
  }
  StatusFile(const StatusFile&) = delete;
  StatusFile& operator=(const StatusFile&) = delete;
  std::string path() const { return folder_ + "/status"; }
  bool is_there() const {
    std::error_code ignored;
    return !folder_.empty() && fs::exists(path(), ignored);
  }

 private:
  std::string folder_;
  std::optional<RemovedAtTheEnd> removed_;
};

// Of counters alone the recorder works in this process, from before the program begins until it has ended.
class CountersBeside {
 public:
  CountersBeside(const RecordingOptions& options, const std::string& library) {
    put_in_environment(options);
    void* recorder = dlopen(library.c_str(), RTLD_NOW);
    const auto start = reinterpret_cast<void (*)()>(recorder ? dlsym(recorder, "GapscopeStartCounters") : nullptr);
    stop_ = reinterpret_cast<void (*)()>(recorder ? dlsym(recorder, "GapscopeStopCounters") : nullptr);
    if (!recorder)
      tell_sentence(options.status, std::string("The recorder cannot be loaded: ") + dlerror() + ".");
    else if (!start || !stop_)
      tell_sentence(options.status, library + " is not the recorder of this gapscope.");
    else
      start();
  }
  ~CountersBeside() {
    if (stop_) stop_();
  }
  CountersBeside(const CountersBeside&) = delete;
  CountersBeside& operator=(const CountersBeside&) = delete;

 private:
  void (*stop_)() = nullptr;
};

void finish_own(const Piece& piece, const std::string& out, Recorded& recorded) {
  if (piece.owner.host != host_name()) {
    recorded.sentences.push_back(piece.path + ": not finished yet, and written on another machine, " + piece.owner.host + ".");
    return;
  }
  const Rescued rescued = rescue(piece.path, path_of_rank(out, piece.owner.rank), kTraceTail);
  switch (rescued.what) {
    case Rescued::What::finished:
      recorded.traces.push_back({rescued.path, piece.owner.rank});
      recorded.sentences.push_back(rescued.path + ": the recording was cut off. Everything before that is saved.");
      break;
    case Rescued::What::written:
      recorded.still_recording = true;
      recorded.sentences.push_back(
          "Process " + std::to_string(piece.owner.process) +
          " of the program is still running and recording. Its trace gets its name when it ends. Until then it is " +
          piece.path);
      break;
    case Rescued::What::unknown:
      recorded.sentences.push_back(piece.path + ": not finished, and this file system does not show whether process " +
                                   std::to_string(piece.owner.process) + " still writes it. It can be opened now.");
      break;
    case Rescued::What::gone: break;
    case Rescued::What::empty:
    case Rescued::What::failed: recorded.sentences.push_back(rescued.sentence); break;
  }
}

// What other runs left is theirs: it is said, and not touched.
void tell_of_others(const std::vector<Piece>& others, Recorded& recorded) {
  constexpr std::size_t kMost = 3;
  std::size_t left = 0;
  for (const Piece& piece : others) {
    if (piece.owner.host != host_name() || may_be_written(piece.path)) continue;
    if (++left <= kMost)
      recorded.sentences.push_back(piece.path +
                                   ": left unfinished by another recording, whose program has ended. It can be opened.");
  }
  if (left > kMost)
    recorded.sentences.push_back("There are " + std::to_string(left - kMost) + " more such files in that folder.");
}

void finish_files(const std::string& out, const std::string& run, Recorded& recorded) {
  std::vector<Piece> others;
  for (const Piece& piece : pieces_beside(out)) {
    if (piece.owner.run == run)
      finish_own(piece, out, recorded);
    else
      others.push_back(piece);
  }
  tell_of_others(others, recorded);
}

// After the files: a process that ended meanwhile has reported it by now.
void read_words(const std::string& status, Recorded& recorded) {
  Status reported = read_status(status);
  recorded.traces.insert(recorded.traces.begin(), reported.traces.begin(), reported.traces.end());
  recorded.sentences.insert(recorded.sentences.begin(), reported.sentences.begin(), reported.sentences.end());
  std::stable_sort(recorded.traces.begin(), recorded.traces.end(),
                   [](const auto& a, const auto& b) { return a.rank < b.rank; });
}

}  // namespace

std::string find_recorder(const std::string& executable) {
  if (const char* named = std::getenv("GAPSCOPE_RECORDER"); named && *named) return named;
  return find_module(executable, "libgapscope_sampler.so");
}

Result<Recorded> run_recorded(const std::vector<std::string>& command, RecordingOptions options, const std::string& library) {
  options.out = fs::absolute(options.out).string();  // the program may change its folder
  options.run = new_run();
  const StatusFile status(options.out, options.run);
  if (!status.is_there())
    return Error{"Neither the folder for temporary files nor that of " + options.out + " can be written to."};
  options.status = status.path();

  int failure[2];
  if (pipe2(failure, O_CLOEXEC) != 0)
    return Error{std::string("Cannot create a pipe for the program: ") + std::strerror(errno) + "."};
  Recorded recorded;
  int why = 0;
  {
    std::optional<CountersBeside> counters;
    if (options.counters_only) counters.emplace(options, library);
    const Signals signals;
    const SignalsHeldBack held_back;
    const pid_t parent = getpid();
    child = fork();
    if (child == 0) {
      signals.restore_in_child();
      held_back.let_go();
      put_into_environment(options, library);
      become(command, failure[1], parent);
    }
    const int no_child = child < 0 ? errno : 0;
    held_back.let_go();
    close(failure[1]);
    ssize_t heard = 0;
    while ((heard = read(failure[0], &why, sizeof why)) < 0 && errno == EINTR) {
    }
    if (heard != sizeof why) why = no_child;
    close(failure[0]);
    if (no_child == 0) recorded.exit_code = wait_for(child);
    child = 0;
  }
  if (why != 0) {
    recorded.exit_code = why == ENOENT ? 127 : 126;  // as a shell has them
    std::error_code ignored;
    const bool is_script = command[0].find('/') != std::string::npos && fs::exists(command[0], ignored);
    recorded.not_started =
        command[0] + (why != ENOENT ? std::string(": cannot be started: ") + std::strerror(why) + "."
                      : is_script   ? ": cannot be started: the interpreter that its first line names is missing."
                                    : ": there is no such program. Is it spelled right, and on the PATH?");
    return recorded;
  }
  finish_files(options.out, options.run, recorded);
  read_words(options.status, recorded);
  return recorded;
}

}  // namespace gapscope
