#pragma once
// How `gapscope record` configures the library inside the recorded program: environment variables.
#include <cstdint>
#include <string>
#include <string_view>

namespace gapscope {

struct RecordingOptions {
  std::string out;               // path of the trace; where it is taken, with a number before its ending
  std::string status;            // a file in which recorders report what they did, see status.h
  std::int64_t delay_ms = 0;     // nothing is recorded before
  std::int64_t duration_ms = 0;  // nor after that long; 0: to the program's end
  std::string range;             // only inside NVTX ranges of this name; empty: all
  std::uint64_t max_mb = 0;      // of the file; 0: any size
  bool profiler_api = false;     // only between cudaProfilerStart and cudaProfilerStop
  bool queue_times = false;      // when each kernel was queued and submitted; costs about 1 us a launch more
  std::string run;               // see piece_name.h
  bool counters = false;         // of the GPUs, see app/sampler/counters
  std::string counter_groups;    // "sm,dram"; empty: all
  std::int64_t counter_interval_ns = 20'000;
  bool counters_only = false;  // by `gapscope record` itself: nothing is loaded into the program
};

constexpr const char* kRecordOut = "GAPSCOPE_RECORD_OUT";
constexpr const char* kRecordStatus = "GAPSCOPE_RECORD_STATUS";
constexpr const char* kRecordDelay = "GAPSCOPE_RECORD_DELAY_MS";
constexpr const char* kRecordDuration = "GAPSCOPE_RECORD_DURATION_MS";
constexpr const char* kRecordRange = "GAPSCOPE_RECORD_RANGE";
constexpr const char* kRecordMaxMb = "GAPSCOPE_RECORD_MAX_MB";
constexpr const char* kRecordProfilerApi = "GAPSCOPE_RECORD_PROFILER_API";
constexpr const char* kRecordQueueTimes = "GAPSCOPE_RECORD_QUEUE_TIMES";
constexpr const char* kRecordRun = "GAPSCOPE_RECORD_RUN";
constexpr const char* kRecordCounters = "GAPSCOPE_RECORD_COUNTERS";
constexpr const char* kRecordCounterGroups = "GAPSCOPE_RECORD_COUNTER_GROUPS";
constexpr const char* kRecordCounterInterval = "GAPSCOPE_RECORD_COUNTER_INTERVAL_NS";
constexpr const char* kRecordCountersOnly = "GAPSCOPE_RECORD_COUNTERS_ONLY";

void put_in_environment(const RecordingOptions& options);
// `out` is empty where no recording was asked for.
RecordingOptions options_from_environment();

// What ends a trace whose writer did not: see app/sampler/kineto_text.h.
constexpr std::string_view kTraceTail = "\n  ]\n}\n";

}  // namespace gapscope
