#pragma once
// `gapscope record -- COMMAND...`: runs it with the recorder inside, writes the trace, opens it.
#include <string>
#include <vector>

namespace gapscope {

struct RecordOptions {
  std::string output = "recording.json.gz";
  double delay_s = 0, duration_s = 0;
  std::string range;
  std::uint64_t max_mb = 0;
  bool no_open = false;
  bool profiler_api = false, queue_times = false;
  std::string counters;  // empty: none; "all", "list", or groups with commas
  std::string counter_interval = "20us";
  bool counters_only = false;
  std::vector<std::string> command;
  std::string executable;  // ours
};

// The program's own exit code, and 127 or 126 where it could not be started, as shells say; kBadInput where nothing was
// recorded.
int record(const RecordOptions& options);

}  // namespace gapscope
