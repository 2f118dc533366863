#pragma once
// One recording of chosen programs: for which moment each is asked, and again where it refused. Without a clock and without
// files, so that a test is both.
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/attach/capture.h"
#include "app/attach/programs.h"

namespace gapscope::attach {

// The same moment on both clocks.
struct Moment {
  Clock::time_point steady;
  std::int64_t unix_ms = 0;
};

class Round {
 public:
  // Asks these for a trace each in `folder`. Several begin at the same moment, which leaves room for the next poll of each.
  void begin(Programs& programs, std::vector<pid_t> pids, const Capture& capture, const std::string& folder, Moment now);
  // One more, that came meanwhile: at the same moment where there is still time for it, else it is left out (losses()).
  void add(Programs& programs, pid_t pid, Moment now);
  // Asks again who refused, with more room, kMostTries times in all; to be called after each Programs::check.
  void go_on(Programs& programs, Moment now);
  // No program is asked any more.
  void end() { is_over_ = true; }

  const std::vector<pid_t>& pids() const { return pids_; }
  // About when all that was asked for has been recorded (not: written).
  Clock::time_point recorded() const { return recorded_; }
  // What has happened since the last call, a sentence each.
  std::vector<std::string> take_news();
  // Who came too late, and who was recorded at another moment than the others: a sentence each.
  std::vector<std::string> losses(const Programs& programs) const;

  static constexpr int kMostTries = 3;

 private:
  bool has_begun(const Programs& programs) const;
  std::vector<pid_t> waiting(const Programs& programs) const;
  void ask_together(Programs& programs, const std::vector<pid_t>& pids, Moment now);
  void ask(Programs& programs, const Program& program, std::optional<Clock::time_point> start, Moment now);

  std::vector<pid_t> pids_, too_late_;
  std::map<pid_t, int> tries_;  // that were refused
  Capture capture_;
  std::string folder_;
  std::optional<Clock::time_point> start_;  // of all; none: each begins when it can
  Clock::time_point recorded_;
  std::vector<std::string> news_;
  bool is_over_ = false;
};

// "process 7 (rank 1)".
std::string name_of(const Program& program);
// Why it refused or is lost, as a sentence's first part: "Process 7 (rank 1) has not begun to record: ...". Of Loss::no_trace
// and Loss::no_room, which need a look at files: empty.
std::string refusal_of(const Program& program);
// Of each job whose ranks on this machine do not all ask, how many there are and which ask: a sentence each.
std::vector<std::string> missing_ranks(const std::vector<const Program*>& programs);

}  // namespace gapscope::attach
