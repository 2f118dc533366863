#pragma once
// The events of a file in file order, under the ids of the trace. Stretches come in order and are numbered one after the other
// (claim), which is quick; their rows are put down side by side (fill). Ids are given in order of first use in the file, so
// they depend neither on where it was cut nor on how many threads helped.
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/paged_rows.h"
#include "core/build/raw_rows.h"
#include "core/build/stored_rows.h"
#include "core/trace/trace.h"

namespace gapscope {

// A lane of the file: threads and streams, and lanes made of async slices.
struct StoredLane {
  std::string process;
  std::string thread;
  bool is_async = false;
};

class RowStore {
 public:
  StringTable strings;
  std::vector<Category> categories;
  std::vector<StoredLane> lanes;
  PagedRows<StoredSlice> slices;
  // Side rows' `slice` is the position in `slices`; lanes, names and categories are ids of this store from here on.
  PagedRows<StoredGpu> gpu;
  PagedRows<StoredCall> calls;
  PagedRows<StoredOp> ops;
  PagedRows<StoredFlow> flows;
  PagedRows<StoredInstant> instants;
  PagedRows<RawCounter> counters;
  PagedRows<StoredMemory> memory;
  std::unique_ptr<SideTables> side = std::make_unique<SideTables>();
  std::vector<RawHalf> halves;
  std::vector<GpuRow> half_gpu;  // see RawChunk
  // Once halves are paired: the last so many slices are made of them, and how many of these are GPU work by their category.
  std::uint64_t halves_as_slices = 0, work_in_halves = 0;
  std::vector<RawName> names;
  // What names of lanes and processes say where their numbers do not, by the key of the process.
  struct ProcessMark {
    std::int32_t device = -1;  // it is the GPU of this number
    std::int32_t rank = -1;
  };
  std::unordered_map<std::string, ProcessMark> process_marks;
  ProcessMark mark_of(const std::string& process) const {
    const auto at = process_marks.find(process);
    return at == process_marks.end() ? ProcessMark{} : at->second;
  }
  StringId step_name;  // see RawChunk; the first one
  std::uint64_t events = 0;
  std::uint64_t at_zero = 0, bare_work = 0, foreign_gpu = 0, graph_work = 0;  // see RawChunk
  std::array<std::uint64_t, 256> phases{};
  LoadReport report;

  // Where the rows of a stretch go, and the ids of what it uses.
  struct Claim {
    std::vector<std::uint32_t> texts, categories, lanes;
    std::uint32_t first_slice = 0;
    SideTables* side = nullptr;
    template <class T>
    using Pieces = std::vector<typename PagedRows<T>::Piece>;
    Pieces<StoredSlice> slices;
    Pieces<StoredGpu> gpu;
    Pieces<StoredCall> calls;
    Pieces<StoredOp> ops;
    Pieces<StoredFlow> flows;
    Pieces<StoredInstant> instants;
    Pieces<RawCounter> counters;
    Pieces<StoredMemory> memory;
  };
  // The next stretch of the file. One at a time. Takes everything but the rows, which fill() puts down.
  Claim claim(const RawChunk& chunk);
  // Any number at a time, alongside claims.
  static void fill(const Claim& claim, const RawChunk& chunk);

  // The position of a category of this text, new where need be. Past 65,535 the rest share the last one, counted.
  std::uint32_t category(StringId text);
  std::uint32_t lane(const std::string& process, const std::string& thread, bool is_async);

  // The streams that args of GPU work state, of slices by their position, ascending; -1 where none is. Walks over all GPU work.
  std::vector<std::int32_t> streams_of(std::span<const std::uint32_t> slices) const;

  // While no stretch is claimed but not filled.
  RowStore copy() const;

 private:
  std::vector<std::uint32_t> category_of_text_;
  std::unordered_map<std::string, std::uint32_t> lane_ids_;
  std::string key_;
};

}  // namespace gapscope
