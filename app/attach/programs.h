#pragma once
// The PyTorch programs that ask for work: who they are, what they were asked for, and what became of it. Without a socket and
// without a clock, so that a test is both.
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "app/attach/kineto_messages.h"
#include "app/attach/process_facts.h"

namespace gapscope::attach {

using Clock = std::chrono::steady_clock;

enum class Stage : std::uint8_t {
  polls,    // nothing is asked of it
  chosen,   // is asked at its next poll
  asked,    // records, or will at the time it was given
  refused,  // does not: it is to be asked again, or given up
  written,  // its trace is there
  lost,     // there is no trace and will be none: Loss says why
};

enum class Loss : std::uint8_t {
  none,
  silent,      // has not asked again
  no_room,     // on its disk
  no_trace,    // ended, or has recorded and written nothing, or its time is over
  late,        // asked when PyTorch could not warm up any more, so nothing was sent to it
  no_warm_up,  // was sent the start in time, and did not begin: only its log says more
  not_begun,   // as this, at a time of its own choice
};

// A trace that is waited for. Kineto writes to its name with ".tmp" behind it, and renames that.
enum class TraceFile : std::uint8_t {
  missing,
  no_room,  // begun, on a disk that is full: Kineto gives up there
  written,
};

// What is asked of one program.
struct Request {
  std::string configuration, trace;         // the file that is waited for
  std::chrono::milliseconds patience{};     // from its being asked until its trace is given up
  std::optional<Clock::time_point> start;   // that the configuration names; none: it is up to PyTorch
  std::chrono::milliseconds begins_within;  // of its being asked, where there is no start; 0: whenever it has finished a step
};

struct Program {
  pid_t pid = 0;                      // as this machine counts
  std::vector<std::int32_t> pids;     // as it counts: its own, then its parents'
  std::int64_t job = 0;               // SLURM_JOB_ID; 0: none
  std::set<std::int32_t> gpus;        // on which it has made a context since we listen
  std::optional<ProcessFacts> facts;  // none: not looked up yet
  bool busy = false;                  // it is recording already, for another program
  Stage stage = Stage::polls;
  Loss loss = Loss::none;     // why it refused or is lost
  Request request;            // while it is chosen or asked, and what became of it
  bool looked = false;        // at its facts since its last poll
  bool has_recorded = false;  // it was busy after it was asked
  bool idle = false;          // asked, could record again, and should have begun
  Clock::time_point last_poll, chosen_at, asked_at;
  std::chrono::milliseconds longest_poll{};  // between two of its polls; 0: there was one

  std::int32_t own_pid() const { return pids.front(); }
  int rank() const { return facts ? facts->rank : -1; }
  // Whether `any` is its pid or one of its parents', as it or this machine counts.
  bool has_pid(std::int64_t any) const;
};

class Programs {
 public:
  using Look = std::function<ProcessFacts(pid_t)>;
  Programs(uid_t user, Look look) : user_(user), look_(std::move(look)) {}

  // The answer to a datagram; empty: it gets none, being no message of a client's, or another user's. At once: a client waits
  // for 50 ms, and one of PyTorch 2.6 that waits while its program starts may end it (two threads make the same client).
  std::string answer(std::string_view datagram, pid_t pid, uid_t user, Clock::time_point now);
  const std::vector<Program>& all() const { return programs_; }
  const Program* find(pid_t pid) const;
  // It has no rank and has started ranks that ask: there is nothing in it to record.
  bool is_launcher(const Program& program) const;
  // At its next poll. A second request takes the place of one that was not sent yet.
  void choose(pid_t pid, const Request& request, Clock::time_point now);
  // A request that was not sent yet is none.
  void withdraw(pid_t pid);
  // One that has refused is lost.
  void give_up(pid_t pid);
  // Looks at what is new. `look_at`: how far the file is; `lives`: whether the process does.
  void check(const std::function<TraceFile(const std::string&)>& look_at, const std::function<bool(pid_t)>& lives,
             Clock::time_point now);

 private:
  Program* entry(pid_t pid);
  static void note_progress(Program& program, bool can_record, Clock::time_point now);
  std::string answer_poll(const PollMessage& poll, pid_t pid, Clock::time_point now);

  uid_t user_;
  Look look_;
  std::vector<Program> programs_;  // in the order of their first poll
  std::vector<std::pair<pid_t, std::int32_t>> contexts_;
};

}  // namespace gapscope::attach
