#pragma once
// What helps against a part of the time account in this trace: the general words of idle_cause_remedy(), made to fit what the
// trace already does (compiled code, CUDA graphs, a DataLoader without workers) and what the time really is (one slow launch,
// copies on the device).
#include <string>
#include <string_view>

#include "core/analyze/account/time_account.h"

namespace gapscope {

// Whether a fetch of the DataLoader has no workers behind it, as with num_workers=0: it loads on its own thread.
constexpr bool is_fetch_without_workers(std::string_view slice_name) {
  return slice_name.starts_with("enumerate(DataLoader)#_SingleProcessDataLoaderIter");
}
constexpr std::string_view kUseWorkers =
    "Load in worker processes (num_workers above 0; there are none now) with prefetch_factor and pin_memory=True, so that "
    "the next batch is ready in time.";
// Of a recording that holds the start of the process.
std::string_view warm_up_advice(ProgramKind program);

// Of the idle time of a device in a part of its window. One to three sentences. O(gaps in the part) and O(names).
std::string idle_advice(const Trace& trace, const DeviceAccount& device, Span part, IdleCause cause);
// Of its exposed copies there. O(n log n) of the GPU work.
std::string copy_advice(const Trace& trace, const DeviceAccount& device, Span part);

}  // namespace gapscope
