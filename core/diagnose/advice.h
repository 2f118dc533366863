#pragma once
// What helps against a part of the time account in this trace: made of what the program does already (practices.h) and of what
// the time really is: one slow launch, a first use, a thread that was not running, Inductor's wrapper code, copies on the
// device. What is followed already is never said.
#include <string>
#include <string_view>

#include "core/analyze/account/time_account.h"
#include "core/analyze/practices/practices.h"
#include "core/index/lane_index.h"

namespace gapscope {

class Facts;
class GapPieces;
struct HostStalls;

// What advice is made from; all must outlive it. What is null is worked out where it is needed.
struct AdviceOn {
  const Trace& trace;
  const TimeAccount& account;
  const Practices& practices;
  const LaneIndex& lanes;
  const HostStalls* stalls = nullptr;
  const GapPieces* pieces = nullptr;  // of one device
};
AdviceOn advice_on(const Facts& facts);

// Whether a fetch of the DataLoader has no workers behind it, as with num_workers=0: it loads on its own thread.
constexpr bool is_fetch_without_workers(std::string_view slice_name) {
  return slice_name.starts_with("enumerate(DataLoader)#_SingleProcessDataLoaderIter");
}
// Code that torch.compile generated, on the host.
constexpr bool is_compiled_wrapper(std::string_view slice_name) {
  return slice_name.starts_with("## Call CompiledFxGraph") || slice_name.starts_with("Torch-Compiled Region") ||
         slice_name.starts_with("CompiledFunction");
}
// A range that the program named itself, not PyTorch.
bool is_own_range(std::string_view annotation);
// Where a thread was stopped (host_stalls.h).
constexpr std::string_view kStallRemedy =
    "Give the process its own cores: a higher CPU quota, taskset, or fewer threads (OMP_NUM_THREADS, torch.set_num_threads). "
    "More DataLoader workers would make it worse.";
// Against all of the host's parts at once.
constexpr std::string_view kReplayAtOnce =
    "Against all of these: {cuda_graph|a CUDA graph of the step (mode=\"reduce-overhead\")}, {larger_graphs}.";
// What a replay of a step's launches as one graph is of, where other remedies stand before it.
constexpr std::string_view kOneGraph =
    "Then use {cuda_graph|a CUDA graph of the step (mode=\"reduce-overhead\")}, {larger_graphs}.";
// Said where nothing is left of the usual measures.
constexpr std::string_view kAllFollowed = "The program already uses the usual remedies.";
// It, or that where nothing of it is left.
Advice fitted_or(const Practices& practices, std::string_view words);
constexpr std::string_view kUseWorkers =
    "Load in worker processes (set num_workers above 0), so that the next batch is ready in time{workers!}.";
// The line of code where the model is to be compiled; of another part of the program line_to_compile() has it.
constexpr std::string_view kCompileModel = "{compile!}model = torch.compile(model)";
// Of a recording that holds the start of the process.
std::string_view warm_up_advice(ProgramKind program);

// Of the idle time of a device in a part of its window. One to three sentences. O(gaps in the part), O(slices of the trace) for
// operators.
Advice idle_advice(const AdviceOn& on, const DeviceAccount& device, Span part, IdleCause cause);
// Of its exposed copies there. O(n log n) of the GPU work.
Advice copy_advice(const AdviceOn& on, const DeviceAccount& device, Span part);
// Of its exposed communication: by what is sent (all-reduce of buckets, shards, all-to-all).
Advice communication_advice(const AdviceOn& on, const DeviceAccount& device, Span part);
Advice compute_advice(const AdviceOn& on);

}  // namespace gapscope
