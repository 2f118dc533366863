#pragma once
// A memory snapshot with all that the window shows of it: made off the UI thread, never changed.
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/snapshot/block_history.h"
#include "core/snapshot/changes.h"
#include "core/snapshot/holder_tree.h"
#include "core/snapshot/leaks.h"
#include "core/snapshot/out_of_memory.h"
#include "core/snapshot/program_trace.h"

namespace gapscope {

// What a device holds after an event.
struct SnapshotMoment {
  std::size_t device = 0;              // in OpenedSnapshot::devices
  std::optional<std::uint32_t> event;  // none: when the snapshot was taken
  SnapshotState state;
  MemoryHolders holders;
  HolderTree tree;
};

struct OpenedDevice {
  const SnapshotDevice* device = nullptr;
  BlockHistory history;
  SnapshotPeak peak;
  SnapshotSteps steps;
  std::vector<SnapshotLeak> leaks;  // at the end
  std::vector<OutOfMemory> ooms;    // the last ones, in order
  std::shared_ptr<const SnapshotMoment> end;
};

// What is held when the snapshot was taken, against an earlier one.
struct SnapshotComparison {
  std::string path;  // of the earlier one
  std::int64_t before = 0, after = 0;
  std::vector<HolderChange> lines, kinds;
};

struct OpenedSnapshot {
  std::string path;
  Snapshot snapshot;
  std::vector<OpenedDevice> devices;
  std::optional<SnapshotComparison> comparison;
  std::optional<ProgramTrace> program;  // of the same run, whose annotations the snapshot has then
};

// What the reading thread shares with the thread that waits; null: none does.
struct SnapshotProgress {
  std::atomic<std::uint64_t>* bytes_done = nullptr;
  std::atomic<std::uint64_t>* bytes_total = nullptr;
  const std::atomic<bool>* cancel = nullptr;  // ends it soon, with the Error "Cancelled."
};

// `before`: a snapshot to compare with; empty: none. `program`: the trace of the same run; null: none.
Result<std::shared_ptr<const OpenedSnapshot>> open_snapshot(const std::string& path, const std::string& before = {},
                                                            const SnapshotProgress& progress = {},
                                                            const Trace* program = nullptr);
std::shared_ptr<const SnapshotMoment> moment_of(const OpenedSnapshot& opened, std::size_t device,
                                                std::optional<std::uint32_t> event);
// The answer, in a sentence: why memory ran out, what grows, or who holds most at the end.
std::string snapshot_headline(const OpenedSnapshot& opened);
// "model.py:12 (forward) grows: 2.00 MB more in each of 6 of 6 steps, 12.0 MB by now."
std::string leak_sentence(const Snapshot& snapshot, const SnapshotSteps& steps, const SnapshotLeak& leak);

}  // namespace gapscope
