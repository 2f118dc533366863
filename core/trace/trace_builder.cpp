#include "core/trace/trace_builder.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <tuple>
#include <unordered_map>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "core/base/merge_runs.h"
#include "core/base/parallel.h"
#include "core/base/radix_sort.h"
#include "core/trace/flow_builder.h"
#include "core/trace/half_slices.h"
#include "core/trace/lane_builder.h"
#include "core/trace/lane_titles.h"
#include "core/trace/trace_span.h"

namespace gapscope {
namespace {

constexpr std::size_t kMaxSlices = 0xFFFF'FFF0u;

template <class T>
void release(Column<T>& column) {
  Column<T>().swap(column);
}

// Gives what parsing has freed back to the system, so that the peak is not the sum of both stages.
void give_memory_back() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

class Builder {
 public:
  Builder(BuildInput input, Trace& out) : in_(std::move(input)), rows_(in_.rows), out_(out) {}

  bool run() {
    give_memory_back();
    pair_half_slices();
    take_texts();
    if (rows_.slices.size() > kMaxSlices) {
      out_.report.add(Oddity::too_many, 0, "more than 4,294,967,279 slices");
      return false;
    }
    draft_lanes();
    sort_by_lane();
    if (cancelled()) return false;
    place_lanes();
    prepare_flows();
    if (!nest_all()) return false;
    scatter_columns();
    if (cancelled()) return false;
    for (const auto& [raw, count] : overlaps_) {
      const std::uint32_t slice = slice_of_raw_[raw];
      out_.report.add(Oddity::overlap, out_.slices.offset[slice], out_.strings[out_.slices.name[slice]], count);
    }
    put_other_tables();
    if (cancelled()) return false;
    out_.report.merge(flow_report_);
    drop_absurd_marks(out_);
    find_span(out_);
    return true;
  }

 private:
  bool cancelled() const { return in_.cancel != nullptr && in_.cancel->load(std::memory_order_relaxed); }

  void pair_half_slices() {
    if (rows_.halves.empty()) return;
    Ns last = std::numeric_limits<Ns>::min();
    for (const RawHalf& h : rows_.halves) last = std::max(last, h.time);
    for (std::size_t i = 0; i < rows_.slices.size(); ++i) last = std::max(last, rows_.slices[i].end);
    PairedHalves paired = pair_halves(std::exchange(rows_.halves, {}), [&](const RawHalf& h) {
      const std::string process = rows_.lanes[h.lane].process;
      const std::string name(rows_.strings[rows_.categories[h.category].name]);
      return rows_.lane(process, name.empty() ? "async" : "async " + name, true);
    }, rows_.report);
    out_.figures.matched_begin_end = paired.matched;
    for (const PairedSlice& s : paired.slices) {
      StoredSlice stored{s.begin, s.open ? last : s.end, s.external_id, s.name, s.lane, 0, 0, static_cast<std::uint16_t>(s.category)};
      stored.set_offset(s.offset);
      rows_.slices.push_back(stored);
    }
    for (const RawInstant& i : paired.instants) rows_.instants.push_back(i);
  }

  void take_texts() {
    out_.figures.events = rows_.events;
    out_.figures.phases = rows_.phases;
    out_.report.merge(rows_.report);
    out_.strings = std::move(rows_.strings);
    out_.categories = std::move(rows_.categories);
  }

  void draft_lanes() {
    std::unordered_map<std::string, std::uint32_t> processes;
    for (StoredLane& lane : rows_.lanes) {
      const auto [at, is_new] = processes.try_emplace(lane.process, static_cast<std::uint32_t>(processes_.size()));
      if (is_new) processes_.push_back({lane.process, {}, {}, 0, false});
      LaneDraft draft;
      draft.process = at->second;
      draft.key = std::move(lane.thread);
      draft.is_async = lane.is_async;
      drafts_.push_back(std::move(draft));
    }
    for (const RawName& n : rows_.names) apply_name(n);
  }

  void apply_name(const RawName& n) {
    LaneDraft& lane = drafts_[n.lane];
    ProcessDraft& process = processes_[lane.process];
    const std::string text(out_.strings[StringId(n.text)]);
    switch (n.what) {
      case RawName::What::process_name: process.name = text; break;
      case RawName::What::process_labels: process.labels = text; break;
      case RawName::What::process_sort_index: process.sort_index = n.number; process.has_sort_index = true; break;
      case RawName::What::thread_name: lane.name = text; break;
      case RawName::What::thread_sort_index: lane.sort_index = n.number; lane.has_sort_index = true; break;
    }
  }

  // Positions of slices, lane by lane in file order, and what kinds a lane holds. Each worker takes a stretch of the pages.
  void sort_by_lane() {
    for (const Category& c : out_.categories) kind_of_category_.push_back(static_cast<std::uint8_t>(c.kind));
    const std::size_t pages = rows_.slices.page_count();
    const auto workers = static_cast<std::size_t>(std::max(1, in_.threads));
    std::vector<std::vector<std::uint32_t>> next(workers, std::vector<std::uint32_t>(drafts_.size(), 0));
    std::vector<std::vector<std::uint32_t>> kinds(workers, std::vector<std::uint32_t>(drafts_.size(), 0));
    const auto each_slice = [&](std::size_t worker, auto body) {
      for (std::size_t page = pages * worker / workers; page < pages * (worker + 1) / workers && !cancelled(); ++page) {
        const std::size_t first = rows_.slices.first_of_page(page);
        const StoredSlice* const slices = &rows_.slices[first];
        for (std::size_t i = 0; i < rows_.slices.rows_of_page(page); ++i) body(slices[i], static_cast<std::uint32_t>(first + i));
      }
    };
    parallel_for(in_.threads, workers, [&](std::size_t w) {
      each_slice(w, [&](const StoredSlice& s, std::uint32_t) {
        ++next[w][s.lane];
        kinds[w][s.lane] |= std::uint32_t{1} << kind_of_category_[s.category];
      });
    });
    lane_first_.assign(drafts_.size() + 1, 0);
    std::uint32_t so_far = 0;
    for (std::size_t lane = 0; lane < drafts_.size(); ++lane) {
      lane_first_[lane] = so_far;
      for (std::size_t w = 0; w < workers; ++w) {
        drafts_[lane].kinds |= kinds[w][lane];
        so_far += std::exchange(next[w][lane], so_far);
      }
      drafts_[lane].has_content = so_far > lane_first_[lane];
    }
    lane_first_.back() = so_far;
    order_.resize(rows_.slices.size());
    parallel_for(in_.threads, workers, [&](std::size_t w) {
      each_slice(w, [&](const StoredSlice& s, std::uint32_t raw) { order_[next[w][s.lane]++] = raw; });
    });
  }

  // Display order, and where each lane's slices begin.
  void place_lanes() {
    std::vector<bool> has_counters(processes_.size(), false);
    for (std::size_t i = 0; i < rows_.counters.size(); ++i) has_counters[drafts_[rows_.counters[i].lane].process] = true;
    for (std::size_t i = 0; i < rows_.instants.size(); ++i) {
      LaneDraft& draft = drafts_[rows_.instants[i].lane];
      draft.has_content = draft.has_content || !rows_.instants[i].is_global;
    }
    LaneOrder order = order_lanes(processes_, drafts_, has_counters, out_.header.devices);
    out_.processes = std::move(order.processes);
    out_.lanes = std::move(order.lanes);
    lane_of_draft_ = std::move(order.lane_of_draft);
    process_of_draft_ = std::move(order.process_of_draft);
    draft_of_lane_.resize(out_.lanes.size());
    for (std::uint32_t d = 0; d < lane_of_draft_.size(); ++d) {
      if (lane_of_draft_[d]) draft_of_lane_[lane_of_draft_[d].index()] = d;
    }
    std::uint32_t next = 0;
    for (std::size_t l = 0; l < out_.lanes.size(); ++l) {
      out_.lanes[l].first_slice = next;
      next += slices_of_draft(draft_of_lane_[l]);
    }
  }

  std::uint32_t slices_of_draft(std::uint32_t draft) const { return lane_first_[draft + 1] - lane_first_[draft]; }

  // Pointers to flows, lane by lane.
  void prepare_flows() {
    const StringId fwdbwd = out_.strings.find("fwdbwd");
    flow_first_.assign(drafts_.size() + 1, 0);
    for (std::size_t i = 0; i < rows_.flows.size(); ++i) {
      RawFlow& f = rows_.flows[i];
      f.wants_op = fwdbwd && f.category == fwdbwd.value;
      ++flow_first_[f.lane + 1];
    }
    std::partial_sum(flow_first_.begin(), flow_first_.end(), flow_first_.begin());
    std::vector<std::uint32_t> next(flow_first_.begin(), flow_first_.end() - 1);
    flow_order_.resize(rows_.flows.size());
    for (std::size_t i = 0; i < rows_.flows.size(); ++i) flow_order_[next[rows_.flows[i].lane]++] = &rows_.flows[i];
  }

  bool nest_all() {
    slice_of_raw_.resize(order_.size());
    std::vector<NestedLane> nested(drafts_.size());
    std::vector<std::uint32_t> biggest_first(drafts_.size());
    std::iota(biggest_first.begin(), biggest_first.end(), 0u);
    std::stable_sort(biggest_first.begin(), biggest_first.end(), [&](std::uint32_t a, std::uint32_t b) { return slices_of_draft(a) > slices_of_draft(b); });
    parallel_for(in_.threads, drafts_.size(), [&](std::size_t i) {
      if (!cancelled() && lane_of_draft_[biggest_first[i]]) nested[biggest_first[i]] = nest(biggest_first[i]);
    });
    if (cancelled()) return false;
    for (std::size_t l = 0; l < out_.lanes.size(); ++l) fill_lane(LaneId(l), nested[draft_of_lane_[l]]);
    release(order_);
    return true;
  }

  // Gives every slice of a lane its place, and binds the lane's flows, to file order positions.
  NestedLane nest(std::uint32_t draft) {
    const std::span<const std::uint32_t> raw(order_.data() + lane_first_[draft], slices_of_draft(draft));
    const auto begin = std::make_unique_for_overwrite<Ns[]>(raw.size());
    const auto end = std::make_unique_for_overwrite<Ns[]>(raw.size());
    for (std::size_t i = 0; i < raw.size(); ++i) {
      const StoredSlice& s = rows_.slices[raw[i]];
      begin[i] = s.begin;
      end[i] = s.end;
    }
    const std::span<const Ns> begins(begin.get(), raw.size()), ends(end.get(), raw.size());
    std::vector<std::uint32_t> members(raw.size());
    std::iota(members.begin(), members.end(), 0u);
    const auto flows = flows_of_lane(draft);
    NestedLane nested = nest_lane(members, begins, ends, [&](std::span<const std::uint32_t> sorted) {
      if (flows.empty()) return;
      std::vector<std::uint8_t> kinds(raw.size());
      for (std::size_t i = 0; i < raw.size(); ++i) kinds[i] = kind_of_category_[rows_.slices[raw[i]].category];
      bind_lane_flows(flows, sorted, begins, ends, kinds);
      for (RawFlow* flow : flows) {
        if (flow->slice != kUnbound) flow->slice = raw[flow->slice];
      }
    });
    if (nested.overlapping != 0) nested.first_overlapping = raw[nested.first_overlapping];
    std::uint32_t slice = out_.lanes[lane_of_draft_[draft].index()].first_slice;
    for (const std::uint32_t member : members) slice_of_raw_[raw[member]] = slice++;
    return nested;
  }

  std::span<RawFlow* const> flows_of_lane(std::uint32_t lane) {
    const std::span all(flow_order_.data() + flow_first_[lane], flow_first_[lane + 1] - flow_first_[lane]);
    const auto earlier = [](const RawFlow* a, const RawFlow* b) { return a->time < b->time; };
    if (!std::is_sorted(all.begin(), all.end(), earlier)) std::stable_sort(all.begin(), all.end(), earlier);
    return all;
  }

  void fill_lane(LaneId id, const NestedLane& nested) {
    Lane& lane = out_.lanes[id.index()];
    std::uint32_t first = lane.first_slice;
    lane.first_row = static_cast<std::uint32_t>(out_.rows.size());
    lane.depth_count = static_cast<std::uint32_t>(nested.row_counts.size());
    lane.overlapping = nested.overlapping;
    lane.span = nested.span;
    lane.busy = nested.busy;
    lane.total_dur = nested.total_dur;
    if (nested.overlapping != 0) overlaps_.emplace_back(nested.first_overlapping, nested.overlapping);
    for (std::uint32_t depth = 0; depth < lane.depth_count; ++depth) {
      out_.rows.push_back({id, depth, first, nested.row_counts[depth]});
      first += nested.row_counts[depth];
    }
    lane.slice_count = first - lane.first_slice;
  }

  void scatter_columns() {
    const std::size_t n = slice_of_raw_.size();
    Slices& s = out_.slices;
    s.begin.resize(n);
    s.end.resize(n);
    s.name.resize(n);
    s.category.resize(n);
    s.external_id.resize(n);
    s.offset.resize(n);
    s.row.resize(n);
    parallel_for(in_.threads, rows_.slices.page_count(), [&](std::size_t page) {
      if (cancelled()) return;
      const std::size_t first = rows_.slices.first_of_page(page);
      const StoredSlice* const slices = &rows_.slices[first];
      for (std::size_t i = 0; i < rows_.slices.rows_of_page(page); ++i) {
        const StoredSlice& from = slices[i];
        const std::uint32_t to = slice_of_raw_[first + i];
        s.begin[to] = from.begin;
        s.end[to] = from.end;
        s.name[to] = StringId(from.name);
        s.category[to] = from.category;
        s.external_id[to] = from.external_id;
        s.offset[to] = from.offset();
      }
      rows_.slices.free_page(page);
    });
    rows_.slices.clear();
    parallel_for(in_.threads, out_.rows.size(), [&](std::size_t r) {
      std::fill_n(s.row.begin() + out_.rows[r].first, out_.rows[r].count, RowId(r));
    });
  }

  // Side rows in order of their slices, without sorting: where a row goes is how many slices before its own have one.
  template <class Table>
  void put_rows(PagedRows<Table>& from, Column<Table>& to) {
    std::vector<std::uint64_t> has_row(slice_of_raw_.size() / 64 + 1, 0);
    for (std::size_t i = 0; i < from.size(); ++i) {
      const std::uint32_t slice = slice_of_raw_[from[i].slice.index()];
      has_row[slice / 64] |= std::uint64_t{1} << (slice % 64);
    }
    std::vector<std::uint32_t> before(has_row.size() + 1, 0);
    for (std::size_t w = 0; w < has_row.size(); ++w) before[w + 1] = before[w] + static_cast<std::uint32_t>(std::popcount(has_row[w]));
    to.resize(from.size());
    from.consume([&](const Table& row, std::size_t) {
      const std::uint32_t slice = slice_of_raw_[row.slice.index()];
      const std::uint64_t lower = has_row[slice / 64] & ((std::uint64_t{1} << (slice % 64)) - 1);
      Table& place = to[before[slice / 64] + static_cast<std::uint32_t>(std::popcount(lower))];
      place = row;
      place.slice = SliceId(slice);
    });
  }

  // The tables that do not depend on each other, side by side.
  void put_other_tables() {
    const std::array<void (Builder::*)(), 5> parts = {&Builder::put_ops, &Builder::put_instants_and_memory, &Builder::put_flows,
                                                      &Builder::put_gpu_and_calls, &Builder::put_counters};
    parallel_for(in_.threads, parts.size(), [&](std::size_t i) {
      if (cancelled()) return;
      (this->*parts[i])();
    });
  }
  void put_ops() { put_rows(rows_.ops, out_.ops); }
  void put_gpu_and_calls() {
    put_rows(rows_.gpu, out_.gpu);
    put_rows(rows_.calls, out_.calls);
  }
  void put_instants_and_memory() {
    put_instants();
    put_memory();
  }

  // Lane by lane, marks over all lanes last; in time order, and in file order where times are equal.
  void put_instants() {
    const auto lane_of = [&](const RawInstant& i) { return i.is_global ? LaneId{} : lane_of_draft_[i.lane]; };
    const auto place_of = [&](LaneId lane) { return lane ? lane.index() : out_.lanes.size(); };
    std::vector<std::size_t> first(out_.lanes.size() + 2, 0);
    for (std::size_t i = 0; i < rows_.instants.size(); ++i) ++first[place_of(lane_of(rows_.instants[i])) + 1];
    std::partial_sum(first.begin(), first.end(), first.begin());
    std::vector<std::size_t> next(first.begin(), first.end() - 1);
    out_.instants.resize(rows_.instants.size());
    rows_.instants.consume([&](const RawInstant& i, std::size_t) {
      out_.instants[next[place_of(lane_of(i))]++] = {i.time, StringId(i.name), lane_of(i), static_cast<std::uint16_t>(i.category), i.offset};
    });
    const auto earlier = [](const Instant& a, const Instant& b) { return a.time < b.time; };
    for (std::size_t lane = 0; lane + 1 < first.size(); ++lane) {
      const std::span<Instant> of_lane(out_.instants.data() + first[lane], first[lane + 1] - first[lane]);
      if (std::is_sorted(of_lane.begin(), of_lane.end(), earlier)) continue;
      Column<Instant> sorted(of_lane.begin(), of_lane.end()), spare;
      merge_runs(sorted, spare, earlier);
      std::copy(sorted.begin(), sorted.end(), of_lane.begin());
    }
    for (std::uint32_t i = 0; i < out_.instants.size(); ++i) {
      if (!out_.instants[i].lane) continue;
      Lane& lane = out_.lanes[out_.instants[i].lane.index()];
      if (lane.instant_count++ == 0) lane.first_instant = i;
    }
  }

  void put_counters() {
    std::unordered_map<std::uint64_t, std::vector<std::size_t>> known;  // by name and series, few processes each
    rows_.counters.consume([&](const RawCounter& v, std::size_t) {
      const ProcessId process = process_of_draft_[drafts_[v.lane].process];
      std::vector<std::size_t>& candidates = known[(std::uint64_t{v.name} << 32) | v.series];
      auto at = std::find_if(candidates.begin(), candidates.end(), [&](std::size_t k) { return out_.counters[k].process == process; });
      if (at == candidates.end()) {
        candidates.push_back(out_.counters.size());
        out_.counters.push_back({process, StringId(v.name), StringId(v.series), {}});
        at = candidates.end() - 1;
      }
      out_.counters[*at].samples.push_back({v.time, v.value});
    });
    for (Counter& counter : out_.counters) {
      std::stable_sort(counter.samples.begin(), counter.samples.end(), [](const CounterSample& a, const CounterSample& b) { return a.time < b.time; });
    }
    std::stable_sort(out_.counters.begin(), out_.counters.end(), [](const Counter& a, const Counter& b) { return a.process < b.process; });
  }

  void put_memory() {
    out_.memory.reserve(rows_.memory.size());
    rows_.memory.consume([&](MemoryRow m, std::size_t) {
      m.lane = lane_of_draft_[m.lane.index()];
      out_.memory.push_back(m);
    });
    const auto earlier = [](const MemoryRow& a, const MemoryRow& b) { return a.time < b.time; };
    Column<MemoryRow> spare;
    if (!std::is_sorted(out_.memory.begin(), out_.memory.end(), earlier)) merge_runs(out_.memory, spare, earlier);
  }

  void put_flows() {
    release(flow_order_);
    std::vector<JoinedFlow> joined = join_flows(rows_.flows, out_.strings, out_.flow_counts, flow_report_);
    rows_.flows.clear();
    if (cancelled()) return;
    for (JoinedFlow& f : joined) f = {slice_of_raw_[f.from], slice_of_raw_[f.to], f.category};
    std::vector<JoinedFlow> other;
    radix_sort(joined, other, [](const JoinedFlow& f) { return f.category; });
    radix_sort(joined, other, [](const JoinedFlow& f) { return (std::uint64_t{f.from} << 32) | f.to; });
    out_.flows.reserve(joined.size());
    for (const JoinedFlow& f : joined) out_.flows.push_back({SliceId(f.from), SliceId(f.to), StringId(f.category)});
  }

  BuildInput in_;
  RowStore& rows_;
  Trace& out_;
  std::vector<ProcessDraft> processes_;
  std::vector<LaneDraft> drafts_;
  std::vector<std::uint8_t> kind_of_category_;
  std::vector<std::uint32_t> lane_first_;      // per draft, into order_
  Column<std::uint32_t> order_;                // positions in file order, lane by lane
  std::vector<std::uint32_t> draft_of_lane_;
  Column<std::uint32_t> slice_of_raw_;         // the slice at a position in file order
  std::vector<std::pair<std::uint32_t, std::uint32_t>> overlaps_;  // a lane's first overlapping slice (raw) and how many
  std::vector<LaneId> lane_of_draft_;
  std::vector<ProcessId> process_of_draft_;
  Column<RawFlow*> flow_order_;                // lane by lane
  std::vector<std::uint32_t> flow_first_;      // per draft, into flow_order_
  LoadReport flow_report_;                     // flows are joined beside other work that reports
};

}  // namespace

bool build_trace(BuildInput input, Trace& out) { return Builder(std::move(input), out).run(); }

}  // namespace gapscope
