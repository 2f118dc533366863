#pragma once
// What the event parser writes: events of a stretch of the file, in file order. Texts, categories and lanes are positions in
// the stretch's own lists of what it uses; RowStore gives them the ids of the trace.
#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/trace/load_report.h"
#include "core/trace/string_table.h"
#include "core/trace/tables.h"

namespace gapscope {

// (pid, tid) as texts, numbers and quoted numbers being the same: "415" == 415.
struct LaneKey {
  std::string process;
  std::string thread;
  friend bool operator==(const LaneKey&, const LaneKey&) = default;
};

// A worker's own numbering of texts and lanes. Grows while the worker lives; never shared while it parses, but for texts and
// keys already there, which stay where they are.
class LocalTables {
 public:
  StringTable strings;

  std::uint32_t lane(std::string_view process, std::string_view thread);
  const std::deque<LaneKey>& lanes() const { return lanes_; }

 private:
  std::unordered_map<std::string, std::uint32_t> lane_ids_;
  std::deque<LaneKey> lanes_;
  std::string key_;  // scratch, so that a look-up does not allocate
};

constexpr std::uint32_t kUnbound = 0xFFFF'FFFFu;

// The category and name of arrows whose ends slices state themselves: bind_id, flow_in, flow_out.
inline constexpr std::string_view kFlowOfSlices = "bind_id";

struct RawFlow {
  Ns time = 0;
  std::uint64_t id = 0;  // number, or a hash of the text
  std::uint64_t offset = 0;
  std::uint32_t lane = 0;
  std::uint32_t category = 0;  // text ids
  std::uint32_t name = 0;
  std::uint32_t slice = kUnbound;  // the slice whose own it is (kFlowOfSlices), or that it was bound to
  char phase = 's';                // s, t, f
  bool wants_op = false;           // fwdbwd joins operators; launches join calls and GPU work
  bool to_next = false;            // an end that belongs to the next slice where none is around it: one without "bp": "e"
};

struct RawInstant {
  Ns time = 0;
  std::uint64_t offset = 0;
  std::uint32_t lane = 0;
  std::uint32_t name = 0;
  std::uint32_t category = 0;
  bool is_global = false;  // "s": "g": a mark over all lanes
};

struct RawCounter {
  Ns time = 0;
  double value = 0;
  std::uint32_t lane = 0;  // only its process matters
  std::uint32_t name = 0;
  std::uint32_t series = 0;
};

// B, E, b, n, e: half slices, paired after the whole file is known.
struct RawHalf {
  Ns time = 0;
  std::uint64_t id = 0;  // b, n, e
  std::uint64_t offset = 0;
  std::uint64_t external_id = 0;
  std::uint32_t lane = 0;
  std::uint32_t name = 0;
  std::uint32_t category = 0;
  char phase = 'B';
};

// ph:M. At most a few hundred a file (one vendor writes 310,046).
struct RawName {
  enum class What : std::uint8_t { process_name, process_labels, process_sort_index, thread_name, thread_sort_index };
  What what{};
  std::uint32_t lane = 0;
  std::uint32_t text = 0;   // names and labels
  std::int64_t number = 0;  // sort indexes
};

struct RawSlice {
  Ns begin = 0;
  Ns end = 0;
  std::uint64_t external_id = 0;
  std::uint32_t name = 0;
  std::uint32_t category = 0;
  std::uint32_t lane = 0;
  std::uint32_t offset = 0;  // from RawChunk::base_offset
};

// Texts and lanes that a stretch uses, in order of first use. `id`: the worker's own.
struct UsedText {
  std::string_view text;
  std::uint32_t id = 0;
};
struct UsedLane {
  const LaneKey* key = nullptr;
  std::uint32_t id = 0;
};

// Profilers write a time that was lost as 0 or -1.
constexpr bool no_time(Ns t) { return t == 0 || t == -kNsPerUs; }

// Rows' name, series and text are positions in `texts`, category one in `categories`, lane one in `lanes`. The side rows'
// `slice` is a position in `slices`.
struct RawChunk {
  std::uint64_t base_offset = 0;  // file offset that RawSlice::offset counts from
  std::vector<UsedText> texts;
  std::vector<std::uint32_t> categories;  // positions in `texts`
  std::vector<UsedLane> lanes;
  std::vector<RawSlice> slices;
  std::vector<GpuRow> gpu;
  std::vector<Call> calls;
  std::vector<OpRow> ops;
  std::vector<RawFlow> flows;
  std::vector<RawInstant> instants;
  std::vector<RawCounter> counters;
  std::vector<RawHalf> halves;
  std::vector<GpuRow> half_gpu;  // what halves say of GPU work or of a call: `slice` is a position in `halves`
  std::vector<RawName> names;
  std::vector<MemoryRow> memory;
  std::vector<std::uint32_t> step_names;  // positions in `texts`: names of slices that say which step they are
  std::uint64_t events = 0;
  std::uint32_t at_zero = 0;      // slices with no_time()
  std::uint32_t bare_work = 0;    // GPU work whose args say nothing of a GPU
  std::uint32_t foreign_gpu = 0;  // rows of `gpu` whose slice has a category that is not known
  std::uint32_t graph_work = 0;   // GPU work of graphs
  std::array<std::uint32_t, 256> phases{};
  LoadReport report;

  void clear();  // keeps the capacity
};

}  // namespace gapscope
