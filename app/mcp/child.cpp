#include "app/mcp/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "app/mcp/calls.h"
#include "core/base/free_memory.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

constexpr std::string_view kBeneath = "--beneath=";  // and the number of a descriptor

// A pipe whose ends are closed with it.
struct Pipe {
  std::array<int, 2> ends{-1, -1};
  bool open() { return ::pipe2(ends.data(), O_CLOEXEC) == 0; }
  void close(std::size_t end) {
    if (ends[end] >= 0) ::close(ends[end]);
    ends[end] = -1;
  }
  ~Pipe() {
    close(0);
    close(1);
  }
};

constexpr std::uint64_t kLeastMemory = std::uint64_t{512} << 20;

// Of the address space (ulimit -v), which the program knows to stay below and to speak of (core/base/free_memory.h): what a
// command asks for is refused, where a limit on what it uses would have it killed. Its allocator reserves little: of 437 MB
// `overview` took 1.05 GB of addresses and used 0.78 GB.
void limit_memory(std::uint64_t bytes) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0) return;
  limit.rlim_max = std::min<rlim_t>(limit.rlim_max, bytes);
  limit.rlim_cur = std::min(limit.rlim_cur, limit.rlim_max);
  ::setrlimit(RLIMIT_AS, &limit);
}

// In the child, where only what a handler of signals may do is allowed: becomes the program, in a group of its own, and ends
// with the thread that waits for it, however that ends.
[[noreturn]] void become(char* const* argv, std::span<const int> inherited, int out, int error, pid_t parent,
                         std::uint64_t memory_bytes) {
  ::setpgid(0, 0);
  limit_memory(memory_bytes);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // it was gone before
  for (const int fd : inherited) ::fcntl(fd, F_SETFD, 0);
  ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(error, STDERR_FILENO);
  ::execv(argv[0], argv);
  constexpr std::string_view
      kTrouble = "gapscope: Cannot start the program again.\n",
      kTooLong = "gapscope: An argument, such as a query, is longer than 128 kB, the limit for a program. Ask for less.\n";
  const std::string_view why = errno == E2BIG ? kTooLong : kTrouble;
  [[maybe_unused]] const ssize_t said = ::write(STDERR_FILENO, why.data(), why.size());
  ::_exit(127);
}

pid_t start(const std::string& program, const ReadableFolders& folders, std::vector<std::string> arguments, const Pipe& out,
            const Pipe& error, std::uint64_t memory_bytes) {
  const std::vector<int> inherited = folders.descriptors();
  for (const int fd : inherited) arguments.insert(arguments.begin(), fmt::format("{}{}", kBeneath, fd));
  std::vector<char*> argv{const_cast<char*>(program.c_str())};  // exec's interface is not const
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) become(argv.data(), inherited, out.ends[1], error.ends[1], parent, memory_bytes);
  if (child > 0) ::setpgid(child, child);  // whichever of the two comes first
  return child;
}

// Until it has ended. It stays a zombie, so that no one else gets its number.
void wait_for_end(pid_t child) {
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
}

// Reads what there is; false at the end.
bool read_some(int fd, std::string& into) {
  std::array<char, 65536> piece;
  const ssize_t got = ::read(fd, piece.data(), piece.size());
  if (got < 0 && errno == EINTR) return true;
  if (got > 0) into.append(piece.data(), static_cast<std::size_t>(got));
  return got > 0;
}

// Both to their ends; a sentence where a limit was passed.
std::string read_both(const Pipe& out, const Pipe& error, const ChildLimits& limits, ChildResult& result) {
  const auto deadline = std::chrono::steady_clock::now() + limits.time;
  std::array<pollfd, 2> open{{{out.ends[0], POLLIN, 0}, {error.ends[0], POLLIN, 0}}};
  while (open[0].fd >= 0 || open[1].fd >= 0) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    if (left <= 0) return fmt::format("The call took longer than {} s and was stopped.", limits.time.count());
    if (::poll(open.data(), open.size(), static_cast<int>(left)) < 0 && errno != EINTR) return "The output cannot be read.";
    if (open[0].fd >= 0 && open[0].revents != 0 && !read_some(open[0].fd, result.out)) open[0].fd = -1;
    if (open[1].fd >= 0 && open[1].revents != 0 && !read_some(open[1].fd, result.error)) open[1].fd = -1;
    if (result.out.size() + result.error.size() > limits.most_bytes)
      return fmt::format("The answer is longer than {}. Ask for less.", format_bytes(limits.most_bytes));
  }
  return {};
}

}  // namespace

std::uint64_t memory_of_a_call() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return ~std::uint64_t{0};  // they reserve more than there is
#else
  return std::max(kLeastMemory, whole_memory_bytes() / 2 / Calls::kAtOnce);
#endif
}

std::optional<Error> confine_as_asked(std::vector<std::string>& arguments) {
  std::vector<int> descriptors;
  const auto is_ours = [](const std::string& word) { return word.starts_with(kBeneath); };
  const auto end = std::find_if_not(arguments.begin(), arguments.end(), is_ours);
  if (end == arguments.begin()) return std::nullopt;
  for (auto at = arguments.begin(); at != end; ++at) {
    int fd = -1;
    std::from_chars(at->data() + kBeneath.size(), at->data() + at->size(), fd);
    descriptors.push_back(fd);
  }
  arguments.erase(arguments.begin(), end);
  Result<ReadableFolders> folders = ReadableFolders::of_descriptors(descriptors);
  if (!folders) return folders.error();
  confine_reading(std::make_shared<const ReadableFolders>(std::move(*folders)));
  return std::nullopt;
}

Result<ChildResult> run_child(const std::string& program, const ReadableFolders& folders,
                              const std::vector<std::string>& arguments, const ChildLimits& limits,
                              const std::stop_token& stop) {
  Pipe out, error;
  if (!out.open() || !error.open()) return Error{fmt::format("Cannot create a pipe: {}.", std::strerror(errno))};
  const pid_t child = start(program, folders, arguments, out, error, limits.memory_bytes);
  if (child < 0) return Error{fmt::format("Cannot start the command: {}.", std::strerror(errno))};
  out.close(1);
  error.close(1);
  ChildResult result;
  std::string trouble;
  {
    const auto end = [child] { ::kill(-child, SIGKILL); };
    const std::stop_callback ended_when_asked(stop, end);
    trouble = read_both(out, error, limits, result);
    if (!trouble.empty()) end();
    wait_for_end(child);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!trouble.empty()) return Error{trouble};
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  constexpr std::string_view kSelf = "gapscope: ";
  if (result.error.starts_with(kSelf)) result.error.erase(0, kSelf.size());
  if (result.error.ends_with('\n')) result.error.pop_back();
  if (result.exit_code != 0 &&
      (contains_ignore_case(result.error, "not enough memory") || contains_ignore_case(result.error, "out of memory")))
    result.error +=
        fmt::format(" A call may use at most {} of memory, so that several calls fit.", format_bytes(limits.memory_bytes));
  return result;
}

}  // namespace gapscope
