#pragma once
// The columns of a trace. Plain data, filled by core/load and the builders of core/trace, never changed afterwards.
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/base/column.h"
#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/trace/arg_columns.h"
#include "core/trace/kind.h"

namespace gapscope {

constexpr std::uint64_t kNoOffset = ~std::uint64_t{0};

// A value of "cat" as the file writes it. Slices hold an index into Trace::categories.
struct Category {
  StringId name;
  Kind kind = Kind::other;
};

// Named stretches of time, ordered by (lane, depth, begin, file order): the slices of one depth of one lane lie side
// by side and never overlap. 38 bytes a slice.
struct Slices {
  Column<Ns> begin;
  Column<Ns> end;  // >= begin
  Column<StringId> name;
  Column<RowId> row;                  // gives lane and depth
  Column<std::uint16_t> category;     // index into Trace::categories
  Column<std::uint64_t> offset;       // byte offset of the event in the (inflated) file; also the file order
  Column<std::uint64_t> external_id;  // args "External id"; 0 where absent (KINETO 4.6)

  std::size_t size() const { return begin.size(); }
};

// One depth of one lane: slices [first, first + count), disjoint and ordered by begin.
struct Row {
  LaneId lane;
  std::uint32_t depth = 0;
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

enum class LaneKind : std::uint8_t { cpu_thread, gpu_stream, overhead, profiler, other };
// The word `info --json` uses: "cpu_thread", ...
std::string_view lane_kind_name(LaneKind kind);

// A process as the file names it: an operating system process, a GPU, or an invented one ("Spans").
struct Process {
  std::string key;              // "pid" as text: "415", "-1", "Spans"
  std::string name;             // process_name metadata; may be empty
  std::string labels;           // process_labels metadata: "CPU", "GPU 0"
  std::int64_t sort_index = 0;  // process_sort_index, or the number in `key`
  std::string title;            // what people see: "python3 415", "GPU 0 - NVIDIA H200"
  bool is_gpu = false;          // holds GPU streams, or counters alone under the label of a GPU
  std::int32_t device = -1;     // GPU ordinal where is_gpu
  std::int32_t rank = -1;       // of several ranks in one file: whose it is
};

// One line of work. Lanes are in display order: processes with CPU work first, then GPUs, then the rest; inside a
// process by sort index, number, name. Lanes without any slice, instant or async slice are not in the table.
struct Lane {
  ProcessId process;
  std::string key;    // "tid" as text
  std::string name;   // thread_name metadata; may be empty
  std::string title;  // what people see: "thread 415 (python3)", "stream 7"
  std::int64_t sort_index = 0;
  LaneKind kind = LaneKind::other;
  bool is_async = false;        // made from b/n/e events: no nesting is promised
  std::uint32_t first_row = 0;  // rows [first_row, first_row + depth_count)
  std::uint32_t depth_count = 0;
  std::uint32_t first_slice = 0;  // slices [first_slice, first_slice + slice_count), depth by depth
  std::uint32_t slice_count = 0;
  std::uint32_t overlapping = 0;  // slices that overlap another without nesting, and so sit at the next free depth
  std::uint32_t first_instant = 0;
  std::uint32_t instant_count = 0;
  Span span;         // first begin .. last end
  Ns busy = 0;       // length of the union of its slices
  Ns total_dur = 0;  // plain sum of durations
};

// Side columns of slices on GPU lanes (kernel, memcpy, memset, sync, cuda_event), ordered by slice id.
struct GpuRow {
  SliceId slice;
#define GAPSCOPE_FIELD(field, type, absent, key, often, packing, shown) type field = absent;
  GAPSCOPE_GPU_ARGS(GAPSCOPE_FIELD)  // see there; registers are per thread, shared memory is bytes (static + dynamic)
  StringId annotated_stream;         // 2026 files: lane compaction of CUDA graphs
  std::uint64_t bytes = 0;           // memcpy, memset

  bool has_launch_config() const { return grid[0] != 0 && block[0] != 0; }
};

// Side columns of runtime and driver calls that carry a correlation id, ordered by slice id.
struct Call {
  SliceId slice;
  std::uint64_t correlation = 0;
};

// Side columns of operators, and of GPU work that states a collective, by slice id; only of slices that state one of these.
struct OpRow {
  SliceId slice;
  bool unfinished = false;          // "finished": false
  GAPSCOPE_OP_ARGS(GAPSCOPE_FIELD)  // see there; the sequence number joins forward and backward
#undef GAPSCOPE_FIELD
  StringId collective;       // "Collective name" of record_param_comms or of a kernel
  StringId collective_args;  // of a kernel: JSON text of its args from "Collective name" on, for core/ranks to read
};

// Calls visit(value) with the args of a row that are packed as asked for in the lists of arg_columns.h, in their order.
enum class ArgPacking : std::uint8_t { shared, own };
#define GAPSCOPE_VISIT(field, type, absent, key, often, packing, shown) \
  if constexpr (kPacking == ArgPacking::packing) visit(row.field);
template <ArgPacking kPacking, class Visit>
constexpr void each_arg(auto& row, Visit visit) requires requires {
  row.grid;
}
{ GAPSCOPE_GPU_ARGS(GAPSCOPE_VISIT) }
template <ArgPacking kPacking, class Visit>
constexpr void each_arg(auto& row, Visit visit) requires requires {
  row.input_dims;
}
{ GAPSCOPE_OP_ARGS(GAPSCOPE_VISIT) }
#undef GAPSCOPE_VISIT

// Memory records ([memory] and [OutOfMemory] instants), ordered by time.
struct MemoryRow {
  Ns time = 0;
  std::int64_t bytes = 0;  // positive: allocated, negative: freed
  std::uint64_t address = 0;
  std::int64_t total_allocated = -1;  // bytes; -1 where absent
  std::int64_t total_reserved = -1;
  LaneId lane;
  std::int8_t device_type = 0;  // 0 CPU, 1 CUDA (c10::DeviceType)
  bool out_of_memory = false;
  std::int16_t device = -1;
};

struct Instant {
  Ns time = 0;
  StringId name;
  LaneId lane;
  std::uint16_t category = 0;
  std::uint64_t offset = kNoOffset;
};

struct CounterSample {
  Ns time = 0;
  double value = 0;
};
// One series of ph:C events: (process, name, key of args).
struct Counter {
  ProcessId process;
  StringId name;
  StringId series;                     // the key inside args; often empty or equal to the name
  std::vector<CounterSample> samples;  // ordered by time
};

// One bound arrow. A start with many ends gives many flows.
struct Flow {
  SliceId from;
  SliceId to;
  StringId category;  // "ac2g", "fwdbwd", "async", ...
};
struct FlowCounts {
  std::uint64_t starts = 0;          // ph:s
  std::uint64_t steps = 0;           // ph:t
  std::uint64_t ends = 0;            // ph:f
  std::uint64_t bound = 0;           // ends and steps joined to a start or a step, both on a slice
  std::uint64_t unbound_starts = 0;  // starts that no end or step refers to, or that lie on no slice
  std::uint64_t unbound_ends = 0;    // ends whose start is not in the file, or that lie on no slice
};

// deviceProperties[i] (KINETO 4.2); 0 where the file does not say.
struct DeviceProperties {
  std::int64_t id = 0;
  std::string name;
  std::int64_t total_global_mem = 0;  // bytes
  std::int64_t compute_major = 0;
  std::int64_t compute_minor = 0;
  std::int64_t max_threads_per_block = 0;
  std::int64_t max_threads_per_sm = 0;
  std::int64_t regs_per_block = 0;
  std::int64_t regs_per_sm = 0;
  std::int64_t warp_size = 0;
  std::int64_t shared_mem_per_block = 0;        // bytes
  std::int64_t shared_mem_per_block_optin = 0;  // bytes
  std::int64_t shared_mem_per_sm = 0;           // bytes
  std::int64_t sms = 0;
};

// Everything at the top level of the file except events.
struct Header {
  std::vector<DeviceProperties> devices;  // ascending by id
  Ns base_time = 0;                       // baseTimeNanoseconds: epoch of ts = 0; 0 where absent
  bool has_base_time = false;
  std::vector<std::pair<std::string, std::string>> metadata;  // other keys in file order: key, JSON text (long ones cut)

  // The JSON text of a metadata key, or empty.
  std::string_view find(std::string_view key) const;
  // True when the key is there and neither 0 nor false (record_shapes, profile_memory, with_stack, ...).
  bool flag(std::string_view key) const;
};

}  // namespace gapscope
