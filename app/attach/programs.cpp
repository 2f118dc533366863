#include "app/attach/programs.h"

#include <algorithm>

#include "app/attach/capture.h"

namespace gapscope::attach {
namespace {

constexpr std::size_t kMostPrograms = 4096;  // of a host; who sends more is no PyTorch
// How long one that is chosen may be silent: several polls.
constexpr std::chrono::seconds kLongestSilence{30};
constexpr int kMostPollsMissed = 3;

}  // namespace

bool Program::has_pid(std::int64_t any) const {
  return any == pid || std::any_of(pids.begin(), pids.end(), [any](std::int32_t own) { return own == any; });
}

Program* Programs::entry(pid_t pid) {
  const auto at = std::find_if(programs_.begin(), programs_.end(), [pid](const Program& p) { return p.pid == pid; });
  return at == programs_.end() ? nullptr : &*at;
}

const Program* Programs::find(pid_t pid) const { return const_cast<Programs*>(this)->entry(pid); }

bool Programs::is_launcher(const Program& program) const {
  return program.rank() < 0 && program.facts &&
         std::any_of(program.facts->below.begin(), program.facts->below.end(), [this](pid_t pid) { return find(pid); });
}

std::string Programs::answer(std::string_view datagram, pid_t pid, uid_t user, Clock::time_point now) {
  const std::optional<ClientMessage> message = parse_message(datagram);
  if (!message || user != user_) return {};
  if (const auto* poll = std::get_if<PollMessage>(&*message))
    return answer_poll(*poll, pid > 0 ? pid : poll->pids.front(), now);
  const auto& context = std::get<ContextMessage>(*message);
  if (contexts_.size() < kMostPrograms) contexts_.emplace_back(pid, context.gpu);
  if (Program* program = entry(pid)) program->gpus.insert(context.gpu);
  return context_reply(static_cast<std::int32_t>(
      std::count_if(contexts_.begin(), contexts_.end(), [&](const auto& made) { return made.second == context.gpu; })));
}

std::string Programs::answer_poll(const PollMessage& poll, pid_t pid, Clock::time_point now) {
  Program* program = entry(pid);
  if (!program) {
    if (programs_.size() == kMostPrograms) return {};
    program = &programs_.emplace_back();
    program->pid = pid;
    for (const auto& [owner, gpu] : contexts_)
      if (owner == pid) program->gpus.insert(gpu);
  } else {
    program->longest_poll =
        std::max(program->longest_poll, std::chrono::ceil<std::chrono::milliseconds>(now - program->last_poll));
  }
  program->pids = poll.pids;
  program->job = poll.job;
  program->busy = !poll.can_record && program->stage != Stage::asked;
  program->last_poll = now;
  program->looked = false;
  if (program->stage == Stage::asked) note_progress(*program, poll.can_record, now);
  if (program->stage != Stage::chosen || !poll.can_record) return poll_reply({});
  const Request& request = program->request;
  if (request.start && now + kLeastNotice > *request.start) {
    program->stage = Stage::refused;
    program->loss = Loss::late;
    return poll_reply({});
  }
  program->stage = Stage::asked;
  program->asked_at = now;
  program->idle = program->has_recorded = false;
  return poll_reply(request.configuration);
}

// A client of Kineto's is busy from its warm-up until its trace is written; what cannot begin when it should is dropped.
void Programs::note_progress(Program& program, bool can_record, Clock::time_point now) {
  program.has_recorded = program.has_recorded || !can_record;
  const Request& request = program.request;
  if (!request.start && request.begins_within.count() == 0) return;
  program.idle = can_record && now > (request.start ? *request.start : program.asked_at + request.begins_within);
}

void Programs::choose(pid_t pid, const Request& request, Clock::time_point now) {
  Program* program = entry(pid);
  if (!program || program->stage == Stage::asked) return;
  program->stage = Stage::chosen;
  program->loss = Loss::none;
  program->request = request;
  program->chosen_at = now;
}

void Programs::withdraw(pid_t pid) {
  Program* program = entry(pid);
  if (program && program->stage == Stage::chosen) program->stage = Stage::polls;
}

void Programs::give_up(pid_t pid) {
  Program* program = entry(pid);
  if (program && program->stage == Stage::refused) program->stage = Stage::lost;
}

void Programs::check(const std::function<TraceFile(const std::string&)>& look_at, const std::function<bool(pid_t)>& lives,
                     Clock::time_point now) {
  for (Program& program : programs_) {
    if (!program.facts || (!program.looked && program.rank() < 0)) program.facts = look_(program.pid);  // it may have ranks now
    program.looked = true;
    const auto lose = [&program](Loss why, Stage stage = Stage::lost) {
      program.stage = stage;
      program.loss = why;
    };
    if (program.stage == Stage::chosen) {
      const auto silence = std::max<Clock::duration>(kLongestSilence, kMostPollsMissed * program.longest_poll);
      if (!lives(program.pid))
        lose(Loss::no_trace);
      else if (now - std::max(program.last_poll, program.chosen_at) > silence)
        lose(Loss::silent);
    }
    if (program.stage != Stage::asked) continue;
    const TraceFile file = look_at(program.request.trace);
    if (file == TraceFile::written)
      program.stage = Stage::written;
    else if (file == TraceFile::no_room)
      lose(Loss::no_room);
    else if (!lives(program.pid) || now > program.asked_at + program.request.patience || (program.idle && program.has_recorded))
      lose(Loss::no_trace);
    else if (program.idle)
      lose(program.request.start ? Loss::no_warm_up : Loss::not_begun, Stage::refused);
  }
}

}  // namespace gapscope::attach
