#pragma once
// What `gapscope snapshot FILE` answers, as text and as JSON.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/snapshot/changes.h"
#include "core/snapshot/leaks.h"
#include "core/snapshot/out_of_memory.h"
#include "core/snapshot/program_trace.h"

namespace gapscope {

struct SnapshotReport {
  struct Device {
    const SnapshotDevice* device = nullptr;
    SnapshotPeak peak;
    std::optional<std::uint32_t> event;  // none: when the snapshot was taken; may be kBeforeHistory
    SnapshotState state;
    std::vector<OutOfMemory> ooms;
    SnapshotSteps steps;
    std::vector<SnapshotLeak> leaks;
  };
  const Snapshot* snapshot = nullptr;
  std::string at;  // "end", "peak", "oom" or "event"
  std::vector<Device> devices;
  std::optional<ProgramTrace> program;  // of the same run
  MemoryHolders holders;                // of all devices
  std::int64_t held() const;            // bytes of active blocks of all devices
};

// What a moment of a device is in SnapshotReport::program.
struct ProgramMoment {
  std::vector<StringId> annotations;  // the outermost first
  std::optional<Ns> time;             // since the trace's begin; none: it was not recorded then
};
ProgramMoment program_moment(const SnapshotReport& report, const SnapshotReport::Device& device);

std::string snapshot_text(const SnapshotReport& report);
std::string snapshot_json(const SnapshotReport& report);
// Of two: what `after` holds more and less than `before`.
std::string snapshot_changes_text(const SnapshotReport& before, const SnapshotReport& after);
std::string snapshot_changes_json(const SnapshotReport& before, const SnapshotReport& after);
// `gapscope info` of a snapshot.
std::string snapshot_info_text(const std::string& path, const Snapshot& snapshot);
std::string snapshot_info_json(const std::string& path, const Snapshot& snapshot);

}  // namespace gapscope
