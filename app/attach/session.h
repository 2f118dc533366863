#pragma once
// Listens for PyTorch programs that were started with KINETO_USE_DAEMON=1, and has those that are chosen write a trace each
// into a new folder. For one thread.
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/attach/capture.h"
#include "app/attach/fabric_socket.h"
#include "app/attach/programs.h"
#include "app/attach/round.h"
#include "core/base/result.h"

namespace gapscope::attach {

// How to start a program so that it can be asked, for people.
extern const char* const kHowToStart;
// What may become of a program that is asked for stacks.
extern const char* const kStacksRisk;

// "attach-" and the time.
std::string default_folder();

class Session {
 public:
  // The Error: the socket is taken.
  static Result<std::unique_ptr<Session>> open();

  // Answers whatever comes within that time, and looks which traces have arrived.
  void listen(std::chrono::milliseconds at_most);
  const std::vector<Program>& programs() const { return programs_.all(); }
  bool is_launcher(const Program& program) const { return programs_.is_launcher(program); }

  // Makes a new folder, called `folder` or, where that is taken, "folder-2" ..., and asks these for their traces. What it
  // returns is its absolute path. Several begin together, all after their next poll; who refuses is asked again (Round).
  Result<std::string> record(const std::vector<pid_t>& pids, const Capture& capture, const std::string& folder);
  // One more for the recording under way, with the others.
  void add(pid_t pid);
  // What has happened since the last call: who is asked again and why, who has come. A sentence each.
  std::vector<std::string> take_news() { return round_.take_news(); }
  // Of those asked: how many are still waited for, and about how long until the last has recorded (not: written).
  std::size_t pending() const;
  Ns time_left() const;
  // Those of the last record().
  std::vector<const Program*> asked() const;
  // Their traces that have come, by rank, then pid.
  std::vector<std::string> traces() const;
  // Of those without one, or with one of another moment, a sentence each. Removes what is empty of what they left, also the
  // folder, and takes back what was not sent yet: for the end of the waiting.
  std::vector<std::string> take_losses();

 private:
  explicit Session(std::unique_ptr<FabricSocket> socket);
  std::unique_ptr<FabricSocket> socket_;
  Programs programs_;
  Round round_;
  std::string folder_;  // of its traces
};

}  // namespace gapscope::attach
