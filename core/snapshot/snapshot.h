#pragma once
// A memory snapshot of PyTorch (torch.cuda.memory._dump_snapshot): what the caching allocator holds, and what it did before.
// Words are PyTorch's: a segment is what cudaMalloc gave, a block is a piece of it. Bytes are bytes; times are microseconds.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/column.h"
#include "core/base/result.h"
#include "core/trace/string_table.h"

namespace gapscope {

using StackId = std::uint32_t;  // index of a distinct stack; 0 is the empty one

class ByteSource;

struct SnapshotFrame {
  StringId name, file;
  std::int64_t line = 0;  // 0 where there is none
  friend bool operator==(const SnapshotFrame&, const SnapshotFrame&) = default;
};

struct SnapshotBlock {
  enum class State : std::uint8_t { inactive, pending_free, allocated };  // pending: freed, but another stream may still use it
  std::uint64_t address = 0;
  std::int64_t size = 0, requested = 0;
  StackId stack = 0;
  State state = State::inactive;
  bool is_active() const { return state != State::inactive; }
};

struct SnapshotSegment {
  std::int64_t device = 0;
  std::uint64_t address = 0;
  std::int64_t total = 0, allocated = 0, active = 0, requested = 0;
  std::uint64_t stream = 0;
  StringId pool = StringId(0);  // of a graph's private pool, e.g. "(0, 1)"; empty for the common one
  bool is_large = false, is_expandable = false;
  std::uint32_t first_block = 0, block_count = 0;  // in Snapshot::blocks, by address
};

struct SnapshotEvent {
  enum class Action : std::uint8_t {
    alloc,
    free_requested,
    free_completed,
    segment_alloc,
    segment_free,
    segment_map,
    segment_unmap,
    snapshot,
    oom,
    other,
  };
  std::uint64_t address = 0;  // of an oom: free bytes of the device
  std::int64_t size = 0;      // as requested, not as rounded
  std::int64_t time_us = 0;   // since 1970
  std::uint32_t stack = 0;
  std::uint16_t stream = 0;  // in Snapshot::streams
  Action action = Action::other;
};

// Sums over the segments of a device, as PyTorch counts them.
struct SnapshotTotals {
  std::int64_t reserved = 0, allocated = 0, active = 0, requested = 0;
  std::uint64_t segments = 0, blocks = 0;  // blocks of every state
  std::int64_t largest_free = 0;           // largest inactive block
  std::int64_t free = 0;                   // in inactive blocks
  std::int64_t split_free = 0;             // of it in segments that hold something: empty_cache() does not return it
};

struct SnapshotDevice {
  std::int64_t id = 0;
  SnapshotTotals totals;            // when the snapshot was taken
  Column<SnapshotEvent> events;     // in order; empty where no history was recorded
  std::vector<std::uint32_t> ooms;  // positions in events
};

struct SnapshotAnnotation {
  StringId name;
  std::int64_t device = 0, time_us = 0;
  bool is_start = false;
};

struct SnapshotSetting {
  StringId name;
  std::string value;
};

struct Snapshot {
  StringTable texts;
  std::vector<SnapshotSegment> segments;  // by device and address
  std::vector<SnapshotBlock> blocks;
  std::vector<SnapshotDevice> devices;  // by id
  std::vector<SnapshotAnnotation> annotations;
  std::vector<SnapshotSetting> settings;
  std::vector<std::uint64_t> streams;
  std::vector<SnapshotFrame> frames;        // distinct
  std::vector<std::uint32_t> stack_begins;  // of each stack and one past the last, in stack_frames
  std::vector<std::uint32_t> stack_frames;  // in frames; innermost first
  std::uint64_t unreadable = 0;             // events, blocks and segments that are not as PyTorch writes them: left out
  std::uint64_t file_bytes = 0;             // of the pickle

  std::size_t stacks() const { return stack_begins.size() - 1; }
  std::span<const std::uint32_t> stack(StackId id) const {
    return std::span(stack_frames).subspan(stack_begins[id], stack_begins[id + 1] - stack_begins[id]);
  }
  std::span<const SnapshotBlock> blocks_of(const SnapshotSegment& s) const {
    return std::span(blocks).subspan(s.first_block, s.block_count);
  }
  // The value of a setting of the allocator ("True", "-1"); empty where it was not written.
  std::string_view setting(std::string_view name) const;
};

// A plain or packed pickle; "-" is standard input. An Error says what the file is and where its reading ended.
Result<Snapshot> load_snapshot(const std::string& path);
// Whether a file on disk, plain or packed, begins as a pickle does.
bool is_pickle(const std::string& path);
// `shown`: the name of the file in sentences.
Result<Snapshot> read_snapshot(ByteSource& source, const std::string& shown);

}  // namespace gapscope
