#include "app/cli/answers.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "app/session/captured_trace.h"
#include "core/base/failure.h"
#include "core/ranks/rank_head.h"
#include "core/ranks/run_report.h"

namespace gapscope {
namespace {

constexpr std::size_t kMostRequestBytes = std::size_t{64} << 20;
constexpr int kPipeBytes = 1 << 20;
constexpr int kPatience_ms = 2000;  // between SIGTERM and SIGKILL

struct Header {
  std::int32_t code = 0;
  std::uint32_t was_ended = 0;
  std::uint64_t out_bytes = 0;
  std::uint64_t error_bytes = 0;
};
static_assert(sizeof(Header) == 24);

// How many bytes came before the end.
std::size_t read_whole(int fd, char* into, std::size_t size) {
  std::size_t got = 0;
  while (got < size) {
    const ssize_t n = ::read(fd, into + got, size - got);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    got += static_cast<std::size_t>(n);
  }
  return got;
}

bool write_whole(int fd, const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t n = ::write(fd, bytes, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_;
};

struct Pipes {
  int requests;
  int answers;
};

enum class Got { request, end, over };  // end: of the command that runs; over: nothing more comes

Got read_request(int fd, std::vector<std::string>& words) {
  std::uint32_t bytes = 0;
  if (read_whole(fd, reinterpret_cast<char*>(&bytes), sizeof bytes) < sizeof bytes) return Got::over;
  if (bytes == 0) return Got::end;
  if (bytes > kMostRequestBytes) return Got::over;
  std::string text(bytes, '\0');
  if (read_whole(fd, text.data(), bytes) < bytes) return Got::over;
  words.clear();
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\0', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return Got::request;
}

bool write_file_of(int to, int fd, std::uint64_t bytes) {
  if (bytes == 0) return true;
  void* const text = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
  if (text == MAP_FAILED) return false;
  const bool written = write_whole(to, static_cast<const char*>(text), bytes);
  ::munmap(text, bytes);
  return written;
}

std::uint64_t bytes_in(int fd) {
  const off_t end = ::lseek(fd, 0, SEEK_END);
  return end < 0 ? 0 : static_cast<std::uint64_t>(end);
}

bool write_text_answer(const Pipes& pipes, int code, const std::string& out, const std::string& error) {
  const Header header{code, 0, out.size(), error.size()};
  return write_whole(pipes.answers, reinterpret_cast<const char*>(&header), sizeof header) &&
         write_whole(pipes.answers, out.data(), out.size()) && write_whole(pipes.answers, error.data(), error.size());
}

// In the process forked for a command.
[[noreturn]] void run_here(const Pipes& pipes, int out, int error, const std::vector<std::string>& words, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kBadInput);  // it was gone before
  ::dup2(out, STDOUT_FILENO);
  ::dup2(error, STDERR_FILENO);
  ::close(pipes.requests);
  ::close(pipes.answers);
  std::signal(SIGPIPE, SIG_DFL);
  int code = kBadInput;
  try {
    code = run_command_line(words);
  } catch (...) {
    say_on_stderr(current_failure("continue").message);
  }
  if (std::fflush(stdout) != 0 && code == kOk) code = complain(kBadInput, "the answer cannot be written.");
  ::_exit(code);  // what belongs to the process that was forked stays its own
}

// What the command that runs ends with, and whether a request ended it. Nothing where no request comes any more.
struct Ended {
  int status = 0;
  bool by_request = false;
};
std::optional<Ended> wait_for(pid_t process, int alive, int requests) {
  Ended ended;
  bool is_over = false;
  std::array<pollfd, 2> watched = {pollfd{alive, POLLIN, 0}, pollfd{requests, POLLIN, 0}};
  for (;;) {
    const int ready = ::poll(watched.data(), watched.size(), ended.by_request || is_over ? kPatience_ms : -1);
    if (ready < 0 && errno != EINTR) break;
    if (watched[0].revents != 0) break;
    if (ready == 0) ::kill(process, SIGKILL);
    if (ready <= 0 || watched[1].revents == 0) continue;
    std::vector<std::string> words;
    is_over = read_request(requests, words) != Got::end;  // one request at a time
    ended.by_request = true;
    ::kill(process, SIGTERM);
    if (is_over) watched[1].fd = -1;
  }
  while (::waitpid(process, &ended.status, 0) < 0 && errno == EINTR) continue;
  return is_over ? std::nullopt : std::optional(ended);
}

bool answer(const Pipes& pipes, const std::vector<std::string>& words) {
  const Descriptor out(::memfd_create("gapscope-answer", MFD_CLOEXEC)), error(::memfd_create("gapscope-error", MFD_CLOEXEC));
  std::array<int, 2> ends{-1, -1};
  if (out.get() < 0 || error.get() < 0 || ::pipe2(ends.data(), O_CLOEXEC) != 0)
    return write_text_answer(pipes, kBadInput, {}, fmt::format("Cannot make room for an answer: {}.", std::strerror(errno)));
  const Descriptor alive(ends[0]);
  Descriptor its_end(ends[1]);  // open in the command alone: when it closes, the command has ended
  const pid_t self = ::getpid(), process = ::fork();
  if (process < 0)
    return write_text_answer(pipes, kBadInput, {}, fmt::format("Cannot start a process: {}.", std::strerror(errno)));
  if (process == 0) run_here(pipes, out.get(), error.get(), words, self);
  its_end.close();
  const std::optional<Ended> ended = wait_for(process, alive.get(), pipes.requests);
  if (!ended) return false;
  const Header header{WIFSIGNALED(ended->status) ? -WTERMSIG(ended->status) : WEXITSTATUS(ended->status),
                      ended->by_request ? 1U : 0U, bytes_in(out.get()), bytes_in(error.get())};
  return write_whole(pipes.answers, reinterpret_cast<const char*>(&header), sizeof header) &&
         write_file_of(pipes.answers, out.get(), header.out_bytes) &&
         write_file_of(pipes.answers, error.get(), header.error_bytes);
}

// Loads what was named. The paths of the traces, each with a NUL behind it.
Result<std::string> load_named(const std::vector<std::string>& words) {
  std::string capture, paths;
  std::vector<std::string> named;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--capture" && i + 1 < words.size())
      capture = words[++i];
    else
      named.push_back(words[i]);
  }
  LoadOptions options;
  options.spill_folder = spill_folder();  // as `sql` loads: args are read again
  for (const std::string& name : named) {
    const RankFiles run = find_rank_files({name});
    if (run.files.empty()) return Error{run.problems.front()};
    const std::string& path = lowest_rank(run.files);
    Result<std::shared_ptr<const Trace>> trace = load_captured_trace(path, options, capture);
    if (!trace) return trace.error();
    hold_trace(path, capture, std::move(*trace));
    paths += path + '\0';
  }
  return paths;
}

}  // namespace

int run_answers(const std::vector<std::string>& words) {
  // Commands print to numbers 1 and 2, read nothing, and must not meet what belongs to the one who asks.
  const Pipes pipes{::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)};
  const Descriptor nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (pipes.requests < 0 || pipes.answers < 0 || nothing.get() < 0) return kBadInput;
  ::fcntl(pipes.answers, F_SETPIPE_SZ, kPipeBytes);  // large answers with fewer turns; where it may not be, as it is
  ::dup2(nothing.get(), STDIN_FILENO);
  ::dup2(nothing.get(), STDOUT_FILENO);
  std::signal(SIGPIPE, SIG_IGN);
  const Result<std::string> loaded = load_named(words);
  if (!loaded) {
    write_text_answer(pipes, kBadInput, {}, loaded.error().message);
    return kBadInput;
  }
  if (!write_text_answer(pipes, kOk, *loaded, {})) return kOk;
  std::vector<std::string> request;
  for (;;) {
    const Got got = read_request(pipes.requests, request);
    if (got == Got::over || (got == Got::request && !answer(pipes, request))) return kOk;
  }
}

}  // namespace gapscope
