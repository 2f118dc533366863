#include "app/attach/programs.h"

#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>

namespace gapscope::attach {
namespace {

constexpr std::size_t kMostPrograms = 4096;  // of a host; who sends more is no PyTorch
constexpr std::size_t kLongestFile = 1 << 20;

std::string read_start(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kLongestFile, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
  return text;
}

int rank_of(std::string_view environment) {
  constexpr std::string_view kKey = "RANK=";
  for (std::size_t at = 0; at < environment.size();) {
    const std::size_t end = std::min(environment.find('\0', at), environment.size());
    const std::string_view entry = environment.substr(at, end - at);
    at = end + 1;
    if (entry.substr(0, kKey.size()) != kKey) continue;
    int rank = -1;
    const auto [rest, wrong] = std::from_chars(entry.data() + kKey.size(), entry.data() + entry.size(), rank);
    return wrong == std::errc() && rest == entry.data() + entry.size() && rank >= 0 ? rank : -1;
  }
  return -1;
}

}  // namespace

bool Program::has_pid(std::int64_t any) const {
  return any == pid || std::any_of(pids.begin(), pids.end(), [any](std::int32_t own) { return own == any; });
}

Program* Programs::find(pid_t pid) {
  const auto at = std::find_if(programs_.begin(), programs_.end(), [pid](const Program& p) { return p.pid == pid; });
  return at == programs_.end() ? nullptr : &*at;
}

std::string Programs::answer(std::string_view datagram, pid_t pid, uid_t user, Clock::time_point now) {
  const std::optional<ClientMessage> message = parse_message(datagram);
  if (!message || user != user_) return {};
  if (const auto* poll = std::get_if<PollMessage>(&*message))
    return answer_poll(*poll, pid > 0 ? pid : poll->pids.front(), now);
  const auto& context = std::get<ContextMessage>(*message);
  if (contexts_.size() < kMostPrograms) contexts_.emplace_back(pid, context.gpu);
  if (Program* program = find(pid)) program->gpus.insert(context.gpu);
  return context_reply(static_cast<std::int32_t>(
      std::count_if(contexts_.begin(), contexts_.end(), [&](const auto& made) { return made.second == context.gpu; })));
}

std::string Programs::answer_poll(const PollMessage& poll, pid_t pid, Clock::time_point now) {
  Program* program = find(pid);
  if (!program) {
    if (programs_.size() == kMostPrograms) return {};
    program = &programs_.emplace_back();
    program->pid = pid;
    for (const auto& [owner, gpu] : contexts_)
      if (owner == pid) program->gpus.insert(gpu);
  }
  program->pids = poll.pids;
  program->job = poll.job;
  program->busy = !poll.can_record && program->stage != Stage::asked;
  program->last_poll = now;
  if (program->stage != Stage::chosen || !poll.can_record) return poll_reply({});
  program->stage = Stage::asked;
  program->deadline = now + program->patience;
  return poll_reply(std::exchange(program->configuration, {}));
}

void Programs::choose(pid_t pid, const Request& request) {
  Program* program = find(pid);
  if (!program || program->stage == Stage::asked) return;
  program->stage = Stage::chosen;
  program->no_room = false;
  program->configuration = request.configuration;
  program->trace = request.trace;
  program->patience = request.patience;
}

void Programs::withdraw(pid_t pid) {
  Program* program = find(pid);
  if (program && program->stage == Stage::chosen) program->stage = Stage::polls;
}

void Programs::check(const std::function<TraceFile(const std::string&)>& look_at, const std::function<bool(pid_t)>& lives,
                     Clock::time_point now) {
  for (Program& program : programs_) {
    if (!program.facts) program.facts = look_(program.pid);
    if (program.stage != Stage::asked && program.stage != Stage::chosen) continue;
    const TraceFile file = program.stage == Stage::asked ? look_at(program.trace) : TraceFile::missing;
    program.no_room = file == TraceFile::no_room;
    if (file == TraceFile::written)
      program.stage = Stage::written;
    else if (program.no_room || !lives(program.pid) || (program.stage == Stage::asked && now > program.deadline))
      program.stage = Stage::lost;
  }
}

ProcessFacts look_at_process(pid_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid);
  ProcessFacts facts{read_start(folder + "/cmdline"), rank_of(read_start(folder + "/environ"))};
  while (!facts.command.empty() && facts.command.back() == '\0') facts.command.pop_back();
  std::replace(facts.command.begin(), facts.command.end(), '\0', ' ');
  return facts;
}

bool process_lives(pid_t pid) {
  if (kill(pid, 0) != 0) return errno == EPERM;
  const std::string status =
      read_start("/proc/" + std::to_string(pid) + "/stat");  // "7 (name) S ...", and the name may hold anything
  const std::size_t name_end = status.rfind(") ");
  return name_end == std::string::npos ||
         (status[name_end + 2] != 'Z' && status[name_end + 2] != 'X');  // ended, and not yet waited for
}

}  // namespace gapscope::attach
