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

namespace gapscope::attach {

using Clock = std::chrono::steady_clock;

enum class Stage : std::uint8_t {
  polls,    // nothing is asked of it
  chosen,   // is asked at its next poll
  asked,    // records, or will at the time it was given
  written,  // its trace is there
  lost,     // it ended, or its time is over, or there is no room, and there is no trace
};

// A trace that is waited for. Kineto writes to its name with ".tmp" behind it, and renames that.
enum class TraceFile : std::uint8_t {
  missing,
  no_room,  // begun, on a disk that is full: Kineto gives up there
  written,
};

// What the system tells of a process of ours.
struct ProcessFacts {
  std::string command;  // its command line; empty: not known
  int rank = -1;        // RANK of its environment; -1: none
};

struct Program {
  pid_t pid = 0;                      // as this machine counts
  std::vector<std::int32_t> pids;     // as it counts: its own, then its parents'
  std::int64_t job = 0;               // SLURM_JOB_ID; 0: none
  std::set<std::int32_t> gpus;        // on which it has made a context since we listen
  std::optional<ProcessFacts> facts;  // none: nobody has looked yet
  bool busy = false;                  // it is recording already, for somebody else
  Stage stage = Stage::polls;
  bool no_room = false;                  // why it is lost
  std::string configuration;             // while it is chosen
  std::string trace;                     // the file that is waited for
  std::chrono::milliseconds patience{};  // from its being asked until its trace is given up
  Clock::time_point last_poll, deadline;

  std::int32_t own_pid() const { return pids.front(); }
  // Whether `any` is its pid or one of its parents', as it or this machine counts.
  bool has_pid(std::int64_t any) const;
};

// What is asked of one program.
struct Request {
  std::string configuration, trace;
  std::chrono::milliseconds patience{};
};

class Programs {
 public:
  using Look = std::function<ProcessFacts(pid_t)>;
  Programs(uid_t user, Look look) : user_(user), look_(std::move(look)) {}

  // The answer to a datagram; empty: it gets none, being no message of a client's, or another user's. At once: a client waits
  // for 50 ms, and one of PyTorch 2.6 that waits while its program starts may end it (two threads make the same client).
  std::string answer(std::string_view datagram, pid_t pid, uid_t user, Clock::time_point now);
  const std::vector<Program>& all() const { return programs_; }
  // At its next poll. A second request takes the place of one that was not sent yet.
  void choose(pid_t pid, const Request& request);
  // A request that was not sent yet is none.
  void withdraw(pid_t pid);
  // Looks at what is new. `look_at`: how far the file is; `lives`: whether the process does.
  void check(const std::function<TraceFile(const std::string&)>& look_at, const std::function<bool(pid_t)>& lives,
             Clock::time_point now);

 private:
  Program* find(pid_t pid);
  std::string answer_poll(const PollMessage& poll, pid_t pid, Clock::time_point now);

  uid_t user_;
  Look look_;
  std::vector<Program> programs_;  // in the order of their first poll
  std::vector<std::pair<pid_t, std::int32_t>> contexts_;
};

// By /proc.
ProcessFacts look_at_process(pid_t pid);
bool process_lives(pid_t pid);

}  // namespace gapscope::attach
