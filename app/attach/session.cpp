#include "app/attach/session.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "core/base/text.h"

namespace gapscope::attach {

const char* const kHowToStart =
    "Start the program with KINETO_USE_DAEMON=1 in its environment: KINETO_USE_DAEMON=1 python3 train.py, KINETO_USE_DAEMON=1 "
    "torchrun train.py, or export it in the job script before srun. PyTorch then asks every five seconds whether to record. "
    "Begin to "
    "listen when it runs: PyTorch 2.6 may abort in its first second where it finds somebody listening.";

// Seen: two of its threads make its client at once, and one of these closes the socket that the other reads. Of eight starts on
// two busy cores two aborted beside us, seven when the first answer came later, and none without a listener.

namespace {

// For Kineto to put its records in order and write them: minutes for gigabytes with stacks.
constexpr std::chrono::seconds kWritingPatience{180};
// Steps come when they come.
constexpr std::chrono::seconds kIterationsPatience{600};
constexpr Ns kMargin = 1'000'000'000;

std::chrono::milliseconds milliseconds(Ns ns) { return std::chrono::milliseconds(ns / 1'000'000); }

bool is_file(const std::string& path) {
  struct stat there {};
  return stat(path.c_str(), &there) == 0 && S_ISREG(there.st_mode) && there.st_size > 0;
}

// Of the folder, which is made; only its owner may look into it, as traces hold paths and command lines.
Result<std::string> make_folder(const std::string& wanted) {
  std::error_code wrong;
  const std::filesystem::path path = std::filesystem::absolute(wanted, wrong).lexically_normal();
  if (wrong) return Error{printable(wanted) + ": " + wrong.message() + ". Name another folder with -o."};
  if (std::string trouble = path_trouble(path.string()); !trouble.empty()) return Error{std::move(trouble)};
  for (int n = 1; n < 10'000; ++n) {
    const std::string name = n == 1 ? path.string() : path.string() + "-" + std::to_string(n);
    if (mkdir(name.c_str(), 0700) == 0) return name;
    if (errno != EEXIST)
      return Error{printable(name) + ": no folder can be made there: " + std::strerror(errno) + ". Name another one with -o."};
  }
  return Error{printable(wanted) + ": there are ten thousand of these. Name another folder with -o."};
}

std::int64_t start_of_all(std::size_t programs) {
  if (programs < 2) return 0;  // as soon as it has warmed up
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch());
  return (now + milliseconds(kPollInterval + kWarmUp + kMargin)).count();
}

int rank_of(const Program& program) { return program.facts ? program.facts->rank : -1; }

std::string trace_name(const Program& program) {
  return rank_of(program) >= 0 ? "rank" + std::to_string(rank_of(program)) : "pid";
}

}  // namespace

Session::Session(std::unique_ptr<FabricSocket> socket) : socket_(std::move(socket)), programs_(geteuid(), look_at_process) {}

Result<std::unique_ptr<Session>> Session::open() {
  const char* folder = std::getenv("KINETO_IPC_SOCKET_DIR");
  Result<std::unique_ptr<FabricSocket>> socket = FabricSocket::listen(folder ? folder : "");
  if (!socket.ok()) return socket.error();
  return std::unique_ptr<Session>(new Session(std::move(*socket)));
}

void Session::listen(std::chrono::milliseconds at_most) {
  const auto until = Clock::now() + at_most;
  do {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    const std::optional<Datagram> datagram = socket_->receive(std::max(left, std::chrono::milliseconds(0)));
    if (!datagram) break;
    const std::string answer = programs_.answer(datagram->bytes, datagram->pid, datagram->uid, Clock::now());
    if (!answer.empty()) socket_->send(*datagram, answer);
  } while (Clock::now() < until);
  programs_.check(is_file, process_lives, Clock::now());
}

Result<std::string> Session::record(const std::vector<pid_t>& pids, const Capture& capture, const std::string& folder) {
  const Result<std::string> made = make_folder(folder);
  if (!made.ok()) return made;
  const std::int64_t start = start_of_all(pids.size());
  const Ns until_recorded = kPollInterval + kWarmUp + kMargin + capture.duration;
  recorded_ = Clock::now() + milliseconds(until_recorded);
  for (const Program& program : programs_.all()) {
    if (std::find(pids.begin(), pids.end(), program.pid) == pids.end()) continue;
    const std::string path = *made + "/" + trace_name(program) + ".json";
    programs_.choose(program.pid,
                     {configuration_text(capture, path, start), written_path(path, program.own_pid()),
                      milliseconds(until_recorded) + (capture.iterations > 0 ? kIterationsPatience : kWritingPatience)});
  }
  return made;
}

std::size_t Session::pending() const {
  return static_cast<std::size_t>(std::count_if(programs().begin(), programs().end(), [](const Program& p) {
    return p.stage == Stage::chosen || p.stage == Stage::asked;
  }));
}

Ns Session::time_left() const {
  return std::max<Ns>(0, std::chrono::duration_cast<std::chrono::nanoseconds>(recorded_ - Clock::now()).count());
}

std::vector<std::string> Session::traces() const {
  std::vector<const Program*> written;
  for (const Program& program : programs())
    if (program.stage == Stage::written) written.push_back(&program);
  std::sort(written.begin(), written.end(),
            [](const Program* a, const Program* b) { return std::pair(rank_of(*a), a->pid) < std::pair(rank_of(*b), b->pid); });
  std::vector<std::string> paths;
  for (const Program* program : written) paths.push_back(program->trace);
  return paths;
}

}  // namespace gapscope::attach
