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
#include "core/base/result.h"

namespace gapscope::attach {

// How to start a program so that it can be asked, for people.
extern const char* const kHowToStart;

class Session {
 public:
  // The Error: the socket is taken.
  static Result<std::unique_ptr<Session>> open();

  // Answers whatever comes within that time, and looks which traces have arrived.
  void listen(std::chrono::milliseconds at_most);
  const std::vector<Program>& programs() const { return programs_.all(); }

  // Makes a new folder, called `folder` or, where that is taken, "folder-2" ..., and asks these for their traces. What it
  // returns is its absolute path. Several begin together, all after their next poll.
  Result<std::string> record(const std::vector<pid_t>& pids, const Capture& capture, const std::string& folder);
  // Of those asked: how many are still waited for, and about how long until the last has recorded (not: written).
  std::size_t pending() const;
  Ns time_left() const;
  // The traces that have come since the last record(), by rank, then pid.
  std::vector<std::string> traces() const;

 private:
  explicit Session(std::unique_ptr<FabricSocket> socket);
  std::unique_ptr<FabricSocket> socket_;
  Programs programs_;
  Clock::time_point recorded_{};  // about when all that was asked for has been recorded
};

}  // namespace gapscope::attach
