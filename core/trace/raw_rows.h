#pragma once
// What the event parser writes and the builders read: events of a stretch of the file, in file order, as columns.
// Texts, lanes and categories are local ids of the parsing worker; the builders translate them.
#include <array>
#include <cstdint>
#include <string>
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

// A worker's own numbering of texts and lanes. Grows while the worker lives; never shared while it parses.
class LocalTables {
 public:
  StringTable strings;

  std::uint32_t lane(std::string_view process, std::string_view thread);
  const std::vector<LaneKey>& lanes() const { return lanes_; }

 private:
  std::unordered_map<std::string, std::uint32_t> lane_ids_;
  std::vector<LaneKey> lanes_;
  std::string key_;  // scratch, so that a look-up does not allocate
};

constexpr std::uint32_t kUnbound = 0xFFFF'FFFFu;

struct RawFlow {
  Ns time = 0;
  std::uint64_t id = 0;          // number, or a hash of the text
  std::uint64_t offset = 0;
  std::uint32_t lane = 0;
  std::uint32_t category = 0;    // text ids
  std::uint32_t name = 0;
  std::uint32_t slice = kUnbound;  // raw (file order) position of the slice it was bound to
  char phase = 's';              // s, t, f
  bool wants_op = false;         // fwdbwd joins operators; launches join calls and GPU work
};

struct RawInstant {
  Ns time = 0;
  std::uint64_t offset = 0;
  std::uint32_t lane = 0;
  std::uint32_t name = 0;
  std::uint32_t category = 0;
  bool is_global = false;        // "s": "g": a mark over all lanes
};

struct RawCounter {
  Ns time = 0;
  double value = 0;
  std::uint32_t lane = 0;        // only its process matters
  std::uint32_t name = 0;
  std::uint32_t series = 0;
};

// B, E, b, n, e: half slices, paired after the whole file is known.
struct RawHalf {
  Ns time = 0;
  std::uint64_t id = 0;          // b, n, e
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
  std::uint32_t text = 0;        // names and labels
  std::int64_t number = 0;       // sort indexes
};

// The slices of a stretch of the file. The side rows' `slice` is the position inside this chunk.
struct RawSlices {
  std::vector<Ns> begin;
  std::vector<Ns> end;
  std::vector<std::uint32_t> name;
  std::vector<std::uint32_t> category;
  std::vector<std::uint32_t> lane;
  std::vector<std::uint32_t> offset;       // from RawChunk::base_offset
  std::vector<std::uint64_t> external_id;
  std::vector<std::uint64_t> wide_offset;  // used instead of `offset` where not empty (slices paired from halves)
  std::vector<GpuRow> gpu;
  std::vector<Call> calls;
  std::vector<OpRow> ops;

  std::size_t size() const { return begin.size(); }
};

struct RawChunk {
  std::uint64_t base_offset = 0;           // file offset that RawSlices::offset counts from
  int table = 0;                           // which worker's LocalTables the ids belong to
  RawSlices slices;
  std::vector<RawFlow> flows;
  std::vector<RawInstant> instants;
  std::vector<RawCounter> counters;
  std::vector<RawHalf> halves;
  std::vector<RawName> names;
  std::vector<MemoryRow> memory;           // MemoryRow::lane holds the local lane id
  std::uint64_t events = 0;
  std::array<std::uint32_t, 256> phases{};
  LoadReport report;

  void clear();  // keeps the capacity
};

}  // namespace gapscope
