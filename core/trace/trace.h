#pragma once
// A trace: built once by core/load, never changed, readable from any thread.
#include <memory>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/trace/doubt.h"
#include "core/trace/load_report.h"
#include "core/trace/producer.h"
#include "core/trace/stated.h"
#include "core/trace/string_table.h"
#include "core/trace/tables.h"

namespace gapscope {

// How the load went; figures for people and benchmarks.
struct LoadFigures {
  std::uint64_t file_bytes = 0;             // on disk
  std::uint64_t text_bytes = 0;             // after inflating
  std::uint64_t events = 0;                 // JSON objects in traceEvents
  std::array<std::uint64_t, 256> phases{};  // events by first character of "ph"
  std::uint64_t matched_begin_end = 0;      // B events joined to their E
  int threads = 1;
  double seconds = 0;       // wall time, file to trace
  double read_seconds = 0;  // of all threads together, while they parse
  double parse_seconds = 0, build_seconds = 0;
  std::uint64_t peak_rss_bytes = 0;
};

class CapturedWork;   // core/analyze/captured
class RestartPoints;  // core/load's own; only carried here
class SpilledText;

struct Trace {
  std::string path;  // as given by the user; "-" for standard input
  StringTable strings;
  std::vector<Category> categories;
  std::vector<Process> processes;
  std::vector<Lane> lanes;
  std::vector<Row> rows;
  Slices slices;
  Column<GpuRow> gpu;
  Column<Call> calls;
  Column<OpRow> ops;
  Column<MemoryRow> memory;
  Column<Instant> instants;  // ordered by (lane, time)
  std::vector<Counter> counters;
  Column<Flow> flows;  // ordered by (from, to)
  FlowCounts flow_counts;
  Header header;
  LoadReport report;
  const Producer* producer = &kPyTorch;
  std::vector<Doubt> doubts;     // those that loading finds; with the others: core/analyze/doubts.h
  std::vector<Span> recordings;  // in time order, where there are several in the file, else empty
  StringId step_name;            // of the annotations that its producer marks steps with; none: PyTorch's
  LoadFigures figures;
  std::vector<std::uint64_t> never_ended;  // Slices::offset of those that reach to the end for want of their own: ascending
  std::vector<std::uint64_t> clipped;      // Slices::offset of GPU work whose recorded duration is impossible: ascending
  bool is_plain_text = false;              // not packed: byte offsets are offsets of the file on disk
  std::shared_ptr<const RestartPoints> restart_points;  // of a packed file; null for a plain one
  std::shared_ptr<const SpilledText> spilled_text;      // where the text cannot be reached otherwise; may be null
  bool is_part = false;                                 // the beginning of a file that is still being read
  Span span;  // first begin .. last end over slices (instants and counters where there are none)
  // Not in the file: the code that loads the trace sets both before anything is derived from it.
  mutable Stated stated;
  mutable std::shared_ptr<const CapturedWork> captured;  // what its replayed graphs were captured by; null: nothing was joined

  std::size_t slice_count() const { return slices.size(); }
  Ns begin(SliceId s) const { return slices.begin[s.index()]; }
  Ns end(SliceId s) const { return slices.end[s.index()]; }
  Ns duration(SliceId s) const { return end(s) - begin(s); }
  Span span_of(SliceId s) const { return {begin(s), end(s)}; }
  StringId name_id(SliceId s) const { return slices.name[s.index()]; }
  std::string_view name(SliceId s) const { return strings[name_id(s)]; }
  const Category& category(SliceId s) const { return categories[slices.category[s.index()]]; }
  std::string_view category_name(SliceId s) const { return strings[category(s).name]; }
  Kind kind(SliceId s) const { return category(s).kind; }
  const Row& row(SliceId s) const { return rows[slices.row[s.index()].index()]; }
  const Row& row(RowId r) const { return rows[r.index()]; }
  LaneId lane_id(SliceId s) const { return row(s).lane; }
  const Lane& lane(SliceId s) const { return lanes[lane_id(s).index()]; }
  const Lane& lane(LaneId l) const { return lanes[l.index()]; }
  std::uint32_t depth(SliceId s) const { return row(s).depth; }
  RowId row_id(LaneId l, std::uint32_t depth) const { return RowId(lane(l).first_row + depth); }

  // The side columns of a slice, or nullptr. Binary search.
  const GpuRow* gpu_row(SliceId s) const;
  const Call* call(SliceId s) const;
  const OpRow* op_row(SliceId s) const;
  // Some slice is of this kind.
  bool has(Kind kind) const;
  // The properties of a GPU, or nullptr.
  const DeviceProperties* device(std::int64_t id) const;
};

}  // namespace gapscope
