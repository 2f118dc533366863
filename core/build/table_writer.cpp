#include "core/build/table_writer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "core/base/merge_runs.h"
#include "core/base/parallel.h"
#include "core/base/radix_sort.h"

namespace gapscope {
namespace {

class TableWriter {
 public:
  TableWriter(const PlacedRows& placed, Trace& out)
      : rows_(placed.rows),
        drafts_(placed.drafts),
        process_of_draft_(placed.process_of_draft),
        lane_of_draft_(placed.lane_of_draft),
        slice_of_raw_(placed.slice_of_raw),
        joined_(placed.joined),
        out_(out) {}

  void put_ops() { put_rows(rows_.ops, out_.ops); }
  void put_gpu_and_calls() {
    put_rows(rows_.gpu, out_.gpu);
    put_rows(rows_.calls, out_.calls);
  }

  // Lane by lane, marks over all lanes last; in time order, and in file order where times are equal.
  void put_instants() {
    const auto lane_of = [&](const StoredInstant& i) {
      return i.lane == StoredInstant::kAllLanes ? LaneId{} : lane_of_draft_[i.lane];
    };
    const auto place_of = [&](LaneId lane) { return lane ? lane.index() : out_.lanes.size(); };
    std::vector<std::size_t> first(out_.lanes.size() + 2, 0);
    rows_.instants.each([&](const StoredInstant& i, std::size_t) { ++first[place_of(lane_of(i)) + 1]; });
    std::partial_sum(first.begin(), first.end(), first.begin());
    std::vector<std::size_t> next(first.begin(), first.end() - 1);
    out_.instants.resize(rows_.instants.size());
    rows_.instants.consume([&](const StoredInstant& i, std::size_t) {
      out_.instants[next[place_of(lane_of(i))]++] = {i.time, StringId(i.name), lane_of(i), i.category, offset_of(i)};
    });
    const auto earlier = [](const Instant& a, const Instant& b) { return a.time < b.time; };
    Column<Instant> spare;
    for (std::size_t lane = 0; lane + 1 < first.size(); ++lane) {
      merge_runs(std::span(out_.instants.data() + first[lane], first[lane + 1] - first[lane]), spare, earlier);
    }
    for (std::uint32_t i = 0; i < out_.instants.size(); ++i) {
      if (!out_.instants[i].lane) continue;
      Lane& lane = out_.lanes[out_.instants[i].lane.index()];
      if (lane.instant_count++ == 0) lane.first_instant = i;
    }
  }

  void put_counters() {
    std::map<std::tuple<std::uint32_t, std::uint32_t, ProcessId>, std::size_t> known;
    rows_.counters.consume([&](const RawCounter& v, std::size_t) {
      const ProcessId process = process_of_draft_[drafts_[v.lane].process];
      const auto [at, is_new] = known.try_emplace({v.name, v.series, process}, out_.counters.size());
      if (is_new) out_.counters.push_back({process, StringId(v.name), StringId(v.series), {}});
      out_.counters[at->second].samples.push_back({v.time, v.value});
    });
    for (Counter& counter : out_.counters) {
      std::stable_sort(counter.samples.begin(), counter.samples.end(),
                       [](const CounterSample& a, const CounterSample& b) { return a.time < b.time; });
    }
    std::stable_sort(out_.counters.begin(), out_.counters.end(),
                     [](const Counter& a, const Counter& b) { return a.process < b.process; });
  }

  void put_memory() {
    out_.memory.reserve(rows_.memory.size());
    rows_.memory.consume([&](const StoredMemory& row, std::size_t) {
      MemoryRow m = unpack(row, *rows_.side);
      m.lane = lane_of_draft_[m.lane.index()];
      out_.memory.push_back(m);
    });
    const auto earlier = [](const MemoryRow& a, const MemoryRow& b) { return a.time < b.time; };
    Column<MemoryRow> spare;
    merge_runs(std::span(out_.memory), spare, earlier);
    number_memory_as_lanes();
  }

  // A profiler may count all GPUs of a machine where PyTorch counts those that its process sees (ROCm's, with
  // HIP_VISIBLE_DEVICES): GPU 2 and GPU 0. Where each of the two knows one GPU it is the same one, and has the lanes' number.
  void number_memory_as_lanes() {
    const auto is_gpu = [](const MemoryRow& row) {
      return row.device >= 0 && (row.device_type == 1 || row.device_type == 6);  // CUDA, HIP
    };
    std::set<std::int32_t> of_lanes, of_memory;
    for (const Process& process : out_.processes)
      if (process.is_gpu) of_lanes.insert(process.device);
    for (const MemoryRow& row : out_.memory)
      if (is_gpu(row)) of_memory.insert(row.device);
    if (of_lanes.size() != 1 || of_memory.size() != 1 || !std::in_range<std::int16_t>(*of_lanes.begin())) return;
    for (MemoryRow& row : out_.memory)
      if (*of_lanes.begin() >= 0 && is_gpu(row)) row.device = static_cast<std::int16_t>(*of_lanes.begin());
  }

  // By slice they come from, slice they go to, category.
  void put_flows() {
    for (JoinedFlow& f : joined_) f = {slice_of_raw_[f.from], slice_of_raw_[f.to], f.category};
    Column<JoinedFlow> other;
    radix_sort(joined_, other, [](const JoinedFlow& f) { return f.from; });
    for (std::size_t i = 0; i < joined_.size();) {  // nearly all slices have one
      std::size_t end = i + 1;
      while (end < joined_.size() && joined_[end].from == joined_[i].from) ++end;
      if (end > i + 1) {
        std::sort(
            joined_.begin() + static_cast<std::ptrdiff_t>(i), joined_.begin() + static_cast<std::ptrdiff_t>(end),
            [](const JoinedFlow& a, const JoinedFlow& b) { return std::pair(a.to, a.category) < std::pair(b.to, b.category); });
      }
      i = end;
    }
    out_.flows.reserve(joined_.size());
    for (const JoinedFlow& f : joined_) out_.flows.push_back({SliceId(f.from), SliceId(f.to), StringId(f.category)});
    Column<JoinedFlow>().swap(joined_);
  }

 private:
  // Side rows in order of their slices, without sorting: where a row goes is how many slices before its own have one.
  template <class Stored, class Table>
  void put_rows(PagedRows<Stored>& from, Column<Table>& to) {
    std::vector<std::uint64_t> has_row(slice_of_raw_.size() / 64 + 1, 0);
    from.each([&](const Stored& row, std::size_t) {
      const std::uint32_t slice = slice_of_raw_[row.slice];
      has_row[slice / 64] |= std::uint64_t{1} << (slice % 64);
    });
    std::vector<std::uint32_t> before(has_row.size() + 1, 0);
    for (std::size_t w = 0; w < has_row.size(); ++w)
      before[w + 1] = before[w] + static_cast<std::uint32_t>(std::popcount(has_row[w]));
    to.resize(from.size());
    from.consume([&](const Stored& row, std::size_t) {
      const std::uint32_t slice = slice_of_raw_[row.slice];
      const std::uint64_t lower = has_row[slice / 64] & ((std::uint64_t{1} << (slice % 64)) - 1);
      Table& place = to[before[slice / 64] + static_cast<std::uint32_t>(std::popcount(lower))];
      place = unpack(row, *rows_.side);
      place.slice = SliceId(slice);
    });
  }

  RowStore& rows_;
  const std::vector<LaneDraft>& drafts_;
  const std::vector<ProcessId>& process_of_draft_;
  const std::vector<LaneId>& lane_of_draft_;
  const Column<std::uint32_t>& slice_of_raw_;
  Column<JoinedFlow>& joined_;
  Trace& out_;
};

}  // namespace

void put_tables(const PlacedRows& placed, int threads, const std::atomic<bool>* cancel, Trace& out) {
  TableWriter writer(placed, out);
  constexpr std::array<void (TableWriter::*)(), 6> parts = {&TableWriter::put_ops,           &TableWriter::put_memory,
                                                            &TableWriter::put_instants,      &TableWriter::put_flows,
                                                            &TableWriter::put_gpu_and_calls, &TableWriter::put_counters};
  parallel_for(threads, parts.size(), [&](std::size_t i) {
    if (cancel == nullptr || !cancel->load(std::memory_order_relaxed)) (writer.*parts[i])();
  });
}

}  // namespace gapscope
