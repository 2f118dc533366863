#include "app/attach/round.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"

namespace gapscope::attach {
namespace {

using std::chrono::milliseconds;

// For Kineto to put its records in order and write them: minutes for gigabytes with stacks.
constexpr std::chrono::seconds kWritingPatience{180};
// Steps come when they come.
constexpr std::chrono::seconds kIterationsPatience{600};
// Beyond a poll and what has to follow it; with each refusal as much more.
constexpr milliseconds kMargin{1500}, kMoreRoom{5000};
// A program that was stopped for an hour is no reason to wait for another.
constexpr milliseconds kLongestWait{60'000};

milliseconds ms(Ns ns) { return milliseconds(ns / 1'000'000); }

template <class Duration>
std::string words(Duration duration) {
  return format_duration(std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count());
}

std::string upper(std::string text) {
  text[0] = 'P';  // of "process"
  return text;
}

// From now until it certainly has polled and could then warm up.
milliseconds room_of(const Program& program, int refusals, Clock::time_point now) {
  const milliseconds since = std::chrono::duration_cast<milliseconds>(now - program.last_poll);
  const milliseconds poll = std::max({ms(kLongestPollInterval), program.longest_poll, since});
  return std::min(poll, kLongestWait) + kLeastNotice + kMargin + refusals * kMoreRoom;
}

std::string trace_name(const Program& program) { return program.rank() >= 0 ? "rank" + std::to_string(program.rank()) : "pid"; }

}  // namespace

void Round::begin(Programs& programs, std::vector<pid_t> pids, const Capture& capture, const std::string& folder, Moment now) {
  pids_ = std::move(pids);
  too_late_.clear();
  tries_.clear();
  news_.clear();
  is_over_ = false;
  capture_ = capture;
  folder_ = folder;
  recorded_ = now.steady;
  ask_together(programs, pids_, now);
}

// One program knows its moment, which is the one of all from then on.
bool Round::has_begun(const Programs& programs) const {
  return std::any_of(pids_.begin(), pids_.end(), [&programs](pid_t pid) {
    const Program* program = programs.find(pid);
    return program && (program->stage == Stage::asked || program->stage == Stage::written);
  });
}

// Those that were not sent their moment.
std::vector<pid_t> Round::waiting(const Programs& programs) const {
  std::vector<pid_t> out;
  for (const pid_t pid : pids_)
    if (const Program* program = programs.find(pid);
        program && (program->stage == Stage::chosen || program->stage == Stage::refused))
      out.push_back(pid);
  return out;
}

void Round::ask_together(Programs& programs, const std::vector<pid_t>& pids, Moment now) {
  start_.reset();
  if (pids_.size() > 1 && capture_.iterations == 0) {
    milliseconds room{};
    for (const pid_t pid : pids)
      if (const Program* program = programs.find(pid)) room = std::max(room, room_of(*program, tries_[pid], now.steady));
    start_ = now.steady + room;
  }
  for (const pid_t pid : pids)
    if (const Program* program = programs.find(pid)) ask(programs, *program, start_, now);
}

void Round::ask(Programs& programs, const Program& program, std::optional<Clock::time_point> start, Moment now) {
  const Clock::time_point begins = start.value_or(now.steady + ms(kLongestPollInterval) + kBeginsWithin);
  const std::int64_t start_ms = start ? now.unix_ms + std::chrono::duration_cast<milliseconds>(*start - now.steady).count() : 0;
  const std::string path = folder_ + "/" + trace_name(program) + ".json";
  const bool by_steps = capture_.iterations > 0;
  Request request;
  request.configuration = configuration_text(capture_, path, start_ms);
  request.trace = written_path(path, program.own_pid());
  request.patience = std::chrono::duration_cast<milliseconds>(begins - now.steady) + ms(capture_.duration) +
                     (by_steps ? kIterationsPatience : kWritingPatience);
  request.start = start;
  request.begins_within = by_steps ? milliseconds(0) : kBeginsWithin;
  recorded_ = std::max(recorded_, begins + ms(capture_.duration));
  programs.choose(program.pid, request, now.steady);
}

void Round::add(Programs& programs, pid_t pid, Moment now) {
  const auto is = [pid](const std::vector<pid_t>& in) { return std::find(in.begin(), in.end(), pid) != in.end(); };
  const Program* program = programs.find(pid);
  if (!program || is(pids_) || is(too_late_)) return;
  const bool begun = has_begun(programs);
  if (begun && capture_.iterations == 0 && (!start_ || now.steady + ms(kPollInterval) + kLeastNotice > *start_)) {
    too_late_.push_back(pid);
    news_.push_back(fmt::format("{} polled too late to start with the others: it is left out.", upper(name_of(*program))));
    return;
  }
  pids_.push_back(pid);
  news_.push_back(fmt::format("{} has polled, and is recorded with the others.", upper(name_of(*program))));
  if (begun) return ask(programs, *program, start_, now);
  std::vector<pid_t> all = waiting(programs);
  all.push_back(pid);
  ask_together(programs, all, now);
}

void Round::go_on(Programs& programs, Moment now) {
  std::erase_if(pids_, [&programs](pid_t pid) {  // chosen before its ranks asked
    const Program* program = programs.find(pid);
    const bool leave = program && program->stage == Stage::chosen && programs.is_launcher(*program);
    if (leave) programs.withdraw(pid);
    return leave;
  });
  std::vector<const Program*> refused;
  for (const pid_t pid : pids_) {
    const Program* program = programs.find(pid);
    if (!program || program->stage != Stage::refused) continue;
    const int tries = ++tries_[pid];
    if (tries >= kMostTries || is_over_) {
      programs.give_up(pid);
      continue;
    }
    refused.push_back(program);
    news_.push_back(fmt::format("{} Trying again with more time (try {} of {}).", refusal_of(*program), tries + 1, kMostTries));
  }
  if (!refused.empty() && !has_begun(programs)) return ask_together(programs, waiting(programs), now);
  for (const Program* program : refused)
    ask(programs, *program, now.steady + room_of(*program, tries_[program->pid], now.steady), now);
}

std::vector<std::string> Round::take_news() { return std::exchange(news_, {}); }

std::vector<std::string> Round::losses(const Programs& programs) const {
  std::vector<std::string> out;
  for (const pid_t pid : too_late_)
    if (const Program* program = programs.find(pid))
      out.push_back(fmt::format("{} came too late to be recorded with the others.", upper(name_of(*program))));
  for (const pid_t pid : pids_) {
    const Program* program = programs.find(pid);
    if (!start_ || !program || program->stage != Stage::written || !program->request.start || program->request.start == start_)
      continue;
    out.push_back(fmt::format("{} was recorded {} after the others, so that their traces show different moments. Record again.",
                              upper(name_of(*program)), words(*program->request.start - *start_)));
  }
  return out;
}

std::string name_of(const Program& program) {
  return program.rank() >= 0 ? fmt::format("process {} (rank {})", program.pid, program.rank())
                             : fmt::format("process {}", program.pid);
}

std::string refusal_of(const Program& program) {
  const std::string name = upper(name_of(program));
  constexpr const char* kLog = "its output says more (at KINETO_LOG_LEVEL=0)";
  const auto notice = [&program](Clock::time_point at) { return *program.request.start - at; };
  switch (program.loss) {
    case Loss::silent: return name + " has not polled again, so it was not recorded. Is it stopped?";
    case Loss::late:
      return fmt::format(
          "{} asked {}, and PyTorch drops a request that leaves it less than {} (\"insufficient time for warmup\").", name,
          notice(program.last_poll) > Clock::duration::zero() ? words(notice(program.last_poll)) + " before the start"
                                                              : words(-notice(program.last_poll)) + " after the start",
          words(kLeastNotice));
    case Loss::no_warm_up:
      return fmt::format(
          "{} has not started to record. The request was {} before the start, and PyTorch refuses when it polls too late "
          "(\"Not starting tracing - insufficient time for warmup\"); {}.",
          name, words(notice(program.asked_at)), kLog);
    case Loss::not_begun: return fmt::format("{} has not started to record, and PyTorch does not report why; {}.", name, kLog);
    default: return {};
  }
}

std::vector<std::string> missing_ranks(const std::vector<const Program*>& programs) {
  struct Job {
    std::size_t here = 0;
    std::set<int> ranks;
  };
  std::map<std::pair<std::int64_t, std::string>, Job> jobs;
  for (const Program* program : programs) {
    if (program->rank() < 0) continue;
    Job& job = jobs[{program->job, program->facts->job_address}];
    job.here = std::max(job.here, static_cast<std::size_t>(program->facts->ranks_here));
    job.ranks.insert(program->rank());
  }
  std::vector<std::string> out;
  for (const auto& [key, job] : jobs)
    if (job.ranks.size() < job.here)
      out.push_back(fmt::format(
          "Of the {} ranks of a job on this machine, {} polled: rank {}. Are the others running, with KINETO_USE_DAEMON=1?",
          job.here, job.ranks.size(), fmt::join(job.ranks, ", ")));
  return out;
}

}  // namespace gapscope::attach
