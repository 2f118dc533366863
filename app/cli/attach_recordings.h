#pragma once
// The folders that `gapscope attach` fills: what is missing in one, and which of many stay.
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "core/base/time.h"

namespace gapscope {

// Writes what is missing next to the traces, for who finds them later; nothing where nothing is. What it returns is a sentence
// on why it could not; empty: it could.
std::string note_missing(const std::string& folder, const std::vector<std::string>& missing);

// Those of --watch, one after another.
class WatchedRecordings {
 public:
  // `max_mb`: of all together; 0: no bound. `slower`: more than 0: only those stay whose median step is so many times the one
  // of those before.
  WatchedRecordings(std::uint64_t max_mb, double slower) : max_mb_(max_mb), slower_(slower) {}

  struct Recording {
    std::string folder;
    std::vector<std::string> traces;
  };
  // Prints a line for each trace; what is not slow enough is removed, and the oldest ones past the bound.
  void judge(Recording recording);

 private:
  std::uint64_t bytes() const;

  std::uint64_t max_mb_;
  double slower_;
  std::deque<Recording> recordings_;
  std::vector<Ns> steps_;  // median of each
};

}  // namespace gapscope
