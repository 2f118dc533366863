#include "app/attach/session.h"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "core/base/text.h"

namespace gapscope::attach {

const char* const kHowToStart =
    "Start the program with KINETO_USE_DAEMON=1 in its environment: KINETO_USE_DAEMON=1 python3 train.py, KINETO_USE_DAEMON=1 "
    "torchrun train.py, or export it in the job script before srun. PyTorch then polls every five or ten seconds. Start to "
    "listen only when it runs: PyTorch 2.6 may abort in its first second if something already listens. With TEARDOWN_CUPTI=1 "
    "as well, PyTorch removes its hooks from CUDA after a recording. Without it, a host-bound program stays "
    "slower.";

const char* const kStacksRisk =
    "With stacks, PyTorch 2.6 without a GPU was seen to crash in its profiler thread: the program may end.";

// Measured on an H100 with PyTorch 2.11, a loop of 12 to 14 ms a step that the host holds back: after one recording of 0.5 s
// the median step was 24 and 27 % longer to the end of the program, and 4 % with TEARDOWN_CUPTI=1. While it records: 0 to 8 %.

// Seen: two of its threads make its client at once, and one of these closes the socket that the other reads. Of eight starts on
// two busy cores two aborted near us, seven when the first answer came later, and none without a listener.

namespace {

// In bytes; none: no such file.
std::optional<off_t> size_of(const std::string& path) {
  struct stat there {};
  if (stat(path.c_str(), &there) != 0 || !S_ISREG(there.st_mode)) return std::nullopt;
  return there.st_size;
}

std::string unfinished(const std::string& trace) { return trace + ".tmp"; }

// What root may still write to, other users may not.
bool is_full(const std::string& path) {
  struct statvfs disk {};
  return statvfs(path.c_str(), &disk) == 0 && disk.f_blocks > 0 && (geteuid() == 0 ? disk.f_bfree : disk.f_bavail) == 0;
}

TraceFile look_at_trace(const std::string& path) {
  if (size_of(path).value_or(0) > 0) return TraceFile::written;
  return size_of(unfinished(path)).value_or(0) > 0 && is_full(unfinished(path)) ? TraceFile::no_room : TraceFile::missing;
}

// What an ended program has left of its trace, as it follows "the trace was written"; removed where it is empty.
std::string take_left(const std::string& trace) {
  const std::string path = unfinished(trace);
  const std::optional<off_t> size = size_of(path);
  if (!size) return "";
  if (*size > 0) return fmt::format("; what it had written is in {}", path);
  return unlink(path.c_str()) == 0 ? "; the empty file that it left is removed" : "";
}

// Of one that is asked no more and has written nothing.
std::string loss_of(const Program& program) {
  const std::string& trace = program.request.trace;
  if (program.stage == Stage::asked)
    return fmt::format("Process {} continues to record and writes {} when it is done.", program.pid, trace);
  if (program.loss == Loss::no_room)
    return fmt::format(
        "The disk is full: process {} could write only the beginning of its trace, {}. Make room, or name a "
        "folder on another disk.",
        program.pid, unfinished(trace));
  if (!process_lives(program.pid))
    return fmt::format("Process {} ended before its trace was written{}.", program.pid, take_left(trace));
  if (std::string refusal = refusal_of(program); !refusal.empty()) return refusal;
  return fmt::format(
      "Process {} has written no trace to {}. Is there room, and does it see that folder (a container, another "
      "machine)? With KINETO_LOG_LEVEL=0 it prints more.",
      program.pid, trace);
}

// Of the folder, which is made; only its owner may look into it, as traces hold paths and command lines.
Result<std::string> make_folder(const std::string& wanted) {
  std::error_code wrong;
  const std::filesystem::path path = std::filesystem::absolute(wanted, wrong).lexically_normal();
  if (wrong) return Error{printable(wanted) + ": " + wrong.message() + ". Name another folder."};
  if (std::string trouble = path_trouble(path.string()); !trouble.empty()) return Error{std::move(trouble)};
  for (int n = 1; n < 10'000; ++n) {
    const std::string name = n == 1 ? path.string() : path.string() + "-" + std::to_string(n);
    if (mkdir(name.c_str(), 0700) == 0) return name;
    if (errno != EEXIST)
      return Error{printable(name) + ": no folder can be made there: " + std::strerror(errno) + ". Name another folder."};
  }
  return Error{printable(wanted) + ": there are ten thousand of these. Name another folder."};
}

Moment moment() {
  const auto unix_time = std::chrono::system_clock::now().time_since_epoch();
  return {Clock::now(), std::chrono::duration_cast<std::chrono::milliseconds>(unix_time).count()};
}

}  // namespace

std::string default_folder() { return fmt::format("attach-{:%Y%m%d-%H%M%S}", fmt::localtime(std::time(nullptr))); }

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
  programs_.check(look_at_trace, process_lives, Clock::now());
  round_.go_on(programs_, moment());
}

Result<std::string> Session::record(const std::vector<pid_t>& pids, const Capture& capture, const std::string& folder) {
  const Result<std::string> made = make_folder(folder);
  if (!made.ok()) return made;
  folder_ = *made;
  round_.begin(programs_, pids, capture, *made, moment());
  return made;
}

void Session::add(pid_t pid) { round_.add(programs_, pid, moment()); }

std::vector<const Program*> Session::asked() const {
  std::vector<const Program*> out;
  for (const Program& program : programs())
    if (std::find(round_.pids().begin(), round_.pids().end(), program.pid) != round_.pids().end()) out.push_back(&program);
  return out;
}

std::size_t Session::pending() const {
  const auto programs = asked();
  return static_cast<std::size_t>(std::count_if(programs.begin(), programs.end(), [](const Program* p) {
    return p->stage == Stage::chosen || p->stage == Stage::asked || p->stage == Stage::refused;
  }));
}

Ns Session::time_left() const {
  return std::max<Ns>(0, std::chrono::duration_cast<std::chrono::nanoseconds>(round_.recorded() - Clock::now()).count());
}

std::vector<std::string> Session::traces() const {
  std::vector<const Program*> written;
  for (const Program* program : asked())
    if (program->stage == Stage::written) written.push_back(program);
  std::sort(written.begin(), written.end(),
            [](const Program* a, const Program* b) { return std::pair(a->rank(), a->pid) < std::pair(b->rank(), b->pid); });
  std::vector<std::string> paths;
  for (const Program* program : written) paths.push_back(program->request.trace);
  return paths;
}

std::vector<std::string> Session::take_losses() {
  round_.end();
  std::vector<std::string> sentences;
  bool goes_on = false;
  for (const Program* program : asked()) {
    programs_.withdraw(program->pid);
    if (program->stage == Stage::lost || program->stage == Stage::asked) sentences.push_back(loss_of(*program));
    const bool was_sent = program->loss == Loss::no_trace || program->loss == Loss::no_room;
    goes_on =
        goes_on || program->stage == Stage::asked || (program->stage == Stage::lost && was_sent && process_lives(program->pid));
  }
  for (std::string& loss : round_.losses(programs_)) sentences.push_back(std::move(loss));
  if (!goes_on) rmdir(folder_.c_str());  // where it is empty
  return sentences;
}

}  // namespace gapscope::attach
