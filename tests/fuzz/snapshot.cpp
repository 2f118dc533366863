// Any bytes as a memory snapshot: no crash, no hang, nothing run, and every moment that can be asked for has an answer. Sums of
// holders are those of what is held.
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/load/byte_source.h"
#include "core/snapshot/out_of_memory.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace gapscope;
  const auto source = open_memory({reinterpret_cast<const char*>(data), size});
  if (!source) return 0;
  const Result<Snapshot> snapshot = read_snapshot(**source, "a.pickle");
  if (!snapshot) {
    if (snapshot.error().message.empty()) std::abort();
    return 0;
  }
  for (const SnapshotDevice& device : snapshot->devices) {
    const SnapshotPeak peak = peak_of(device);
    if (peak.bytes < device.totals.active || (peak.event && *peak.event >= device.events.size())) std::abort();
    for (std::size_t event = 0; event < device.events.size() && event < 20; ++event) {
      const SnapshotState state = state_at(*snapshot, device, static_cast<std::uint32_t>(event));
      std::uint64_t blocks = 0;
      for (const StackHolder& holder : holders_of(*snapshot, state.held).stacks) blocks += holder.blocks;
      if (blocks != state.held.size()) std::abort();
    }
    for (std::size_t i = 0; i < device.ooms.size() && i < 20; ++i) {
      const OutOfMemory oom = explain_oom(*snapshot, device, device.ooms[i]);
      if (oom_sentence(*snapshot, oom).empty() || oom_remedies(*snapshot, oom).size() > 6) std::abort();
    }
  }
  return 0;
}
