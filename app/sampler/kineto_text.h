#pragma once
// Events as Kineto writes them, so that every reader of PyTorch's traces reads these (its output_json.cpp is the source of
// names and order). Pure functions that append to a text; no event is preceded or followed by a comma.
#include <string>
#include <string_view>
#include <vector>

#include "app/sampler/activity.h"

namespace gapscope::sampler {

// Domain of NVTX ranges that are operators: their message is a name, a space, and a JSON object with their args.
constexpr std::string_view kOperators = "operators";

// Streams' waits lie on a lane of their own next to the stream's work.
constexpr std::int64_t kSyncLane = 1'000'000;

// Between two events. The newline comes first, so that a file cut off after any of its lines needs no more than its end.
constexpr std::string_view kNextEvent = "\n,";

struct TraceInfo {
  std::int64_t process = 0;
  std::string program;  // what lanes of the process are called
  std::string command;  // as it was started
  int cupti_version = 0, driver_version = 0;
  Ns base = 0;  // ts 0, see base_time
  std::vector<Device> devices;
  std::int64_t rank = -1, world_size = -1;  // in its job; -1: none, not said
};

// The begin of a period of 7,889,238 s (a quarter of a year), as Kineto counts from.
Ns base_time(Ns now);

// Everything up to the first event; kTraceTail (app/record/recording.h) is everything after the last.
void append_head(std::string& out, const TraceInfo& info);

void append_call(std::string& out, const TraceInfo& info, const Call& call);
void append_kernel(std::string& out, const TraceInfo& info, const Kernel& kernel);
void append_copy(std::string& out, const TraceInfo& info, const Copy& copy);
void append_fill(std::string& out, const TraceInfo& info, const Fill& fill);
void append_sync(std::string& out, const TraceInfo& info, const Sync& sync);
void append_overhead(std::string& out, const TraceInfo& info, const Overhead& overhead);
void append_range(std::string& out, const TraceInfo& info, const Range& range);
void append_mark(std::string& out, const TraceInfo& info, const Marker& mark);
// The stretch of one stream from the first to the last work launched inside a range.
void append_gpu_range(std::string& out, const TraceInfo& info, std::string_view name, const Times& times, std::int32_t device,
                      std::int32_t stream);
// `args`: "KEY": NUMBER, ... of a GPU's counters.
void append_counter(std::string& out, const TraceInfo& info, std::string_view name, std::int32_t device, Ns time,
                    std::string_view args);
// The span of the recording.
void append_recording(std::string& out, const TraceInfo& info, const Times& times, std::uint64_t events);

// Names of lanes: several events with kNextEvent between them.
void append_process_names(std::string& out, const TraceInfo& info);
void append_gpu_names(std::string& out, const TraceInfo& info, std::int32_t device);
void append_thread_name(std::string& out, const TraceInfo& info, std::uint32_t thread, std::string_view name);
void append_stream_name(std::string& out, const TraceInfo& info, std::int32_t device, std::int64_t stream);

}  // namespace gapscope::sampler
