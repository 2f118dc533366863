#include "core/build/trace_builder.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <numeric>
#include <unordered_map>

#include "core/base/parallel.h"
#include "core/base/scratch.h"
#include "core/base/text.h"
#include "core/build/clip_work.h"
#include "core/build/flow_builder.h"
#include "core/build/lane_builder.h"
#include "core/build/table_writer.h"
#include "core/build/trace_span.h"
#include "core/trace/lane_titles.h"

namespace gapscope {
namespace {

constexpr std::size_t kMaxSlices = 0xFFFF'FFF0u;

// Room that a lane is nested in, reused from lane to lane.
struct LaneScratch {
  Column<Ns> begin, end;
  Column<std::uint32_t> members;
  Column<std::uint8_t> kinds;
  LaneNester nester;

  void make(std::size_t slices, bool with_kinds) {
    grow_scratch(begin, slices);
    grow_scratch(end, slices);
    grow_scratch(members, slices);
    if (with_kinds) grow_scratch(kinds, slices);
  }
};

class Builder {
 public:
  Builder(BuildInput input, Trace& out) : in_(std::move(input)), rows_(in_.rows), out_(out) {}

  bool run() {
    take_texts();
    if (rows_.slices.size() > kMaxSlices) {
      out_.report.add(ImportIssue::too_many, 0, "more than 4,294,967,279 slices");
      return false;
    }
    draft_lanes();
    sort_by_lane();
    if (cancelled()) return false;
    place_lanes();
    if (!nest_all()) return false;
    scatter_columns();
    if (cancelled()) return false;
    note_odd_gpus();
    for (const auto& [raw, count] : overlaps_) {
      const std::uint32_t slice = slice_of_raw_[raw];
      out_.report.add(ImportIssue::overlap, out_.slices.offset[slice], out_.strings[out_.slices.name[slice]], count);
    }
    put_tables({rows_, drafts_, process_of_draft_, lane_of_draft_, slice_of_raw_, joined_}, in_.threads, in_.cancel, out_);
    if (cancelled()) return false;
    out_.report.merge(flow_report_);
    drop_absurd_marks(out_);
    find_span(out_);
    return true;
  }

 private:
  bool cancelled() const { return in_.cancel != nullptr && in_.cancel->load(std::memory_order_relaxed); }

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
      const RowStore::ProcessMark mark = is_new ? rows_.mark_of(lane.process) : RowStore::ProcessMark{};
      if (is_new) processes_.push_back({lane.process, {}, {}, 0, false, mark.device, mark.rank});
      LaneDraft& draft = drafts_.emplace_back();
      draft.process = at->second;
      draft.key = std::move(lane.thread);
      draft.is_async = lane.is_async;
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
      case RawName::What::process_sort_index:
        process.sort_index = n.number;
        process.has_sort_index = true;
        break;
      case RawName::What::thread_name: lane.name = text; break;
      case RawName::What::thread_sort_index:
        lane.sort_index = n.number;
        lane.has_sort_index = true;
        break;
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
        for (std::size_t i = 0; i < rows_.slices.rows_of_page(page); ++i)
          body(slices[i], static_cast<std::uint32_t>(first + i));
      }
    };
    parallel_for(in_.threads, workers + 1, [&](std::size_t w) {
      if (w == workers) return count_flows();
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
    parallel_for(in_.threads, workers + 1, [&](std::size_t w) {
      if (w == workers) return sort_flows_by_lane();
      each_slice(w, [&](const StoredSlice& s, std::uint32_t raw) { order_[next[w][s.lane]++] = raw; });
    });
  }

  // Display order, and where each lane's slices begin.
  void place_lanes() {
    std::vector<bool> has_counters(processes_.size(), false);
    rows_.counters.each([&](const RawCounter& c, std::size_t) { has_counters[drafts_[c.lane].process] = true; });
    rows_.instants.each([&](const StoredInstant& i, std::size_t) {
      if (i.lane != StoredInstant::kAllLanes) drafts_[i.lane].has_content = true;
    });
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

  // No analysis has a place for them.
  void note_odd_gpus() {
    for (const Process& process : out_.processes) {
      const bool is_number = std::all_of(process.key.begin(), process.key.end(), is_digit) && !process.key.empty();
      if (process.is_gpu && is_number && process.device < 0) out_.report.add(ImportIssue::gpu_number, kNoOffset, process.title);
    }
  }

  std::uint32_t slices_of_draft(std::uint32_t draft) const { return lane_first_[draft + 1] - lane_first_[draft]; }

  void count_flows() {
    flow_first_.assign(drafts_.size() + 1, 0);
    rows_.flows.each([&](const StoredFlow& f, std::size_t) { ++flow_first_[f.lane_or_slice + 1]; });
    std::partial_sum(flow_first_.begin(), flow_first_.end(), flow_first_.begin());
  }

  // Positions of flows, lane by lane in file order. From here on a flow keeps its slice in place of its lane.
  void sort_flows_by_lane() {
    std::vector<std::uint32_t> next(flow_first_.begin(), flow_first_.end() - 1);
    flow_order_.resize(rows_.flows.size());
    rows_.flows.each([&](StoredFlow& f, std::size_t i) {
      flow_order_[next[std::exchange(f.lane_or_slice, kUnbound)]++] = static_cast<std::uint32_t>(i);
    });
    const StringId fwdbwd = out_.strings.find("fwdbwd");
    flow_wants_op_.resize(rows_.side->flow_kinds.size());
    const StringId of_slice = out_.strings.find(kFlowOfSlices);
    flow_is_of_slice_.resize(flow_wants_op_.size());
    for (std::uint32_t k = 0; k < flow_wants_op_.size(); ++k) {
      flow_wants_op_[k] = fwdbwd && rows_.side->flow_kinds[k].category == fwdbwd.value;
      flow_is_of_slice_[k] = of_slice && rows_.side->flow_kinds[k].name == of_slice.value;
    }
  }

  bool nest_all() {
    slice_of_raw_.resize(order_.size());
    std::vector<NestedLane> nested(drafts_.size());
    std::vector<std::uint32_t> biggest_first(drafts_.size());
    std::iota(biggest_first.begin(), biggest_first.end(), 0u);
    std::stable_sort(biggest_first.begin(), biggest_first.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return slices_of_draft(a) > slices_of_draft(b); });
    std::atomic<std::size_t> next{0};
    run_workers(std::max(1, in_.threads), [&](int) {
      LaneScratch room;
      for (std::size_t i = next++; i < biggest_first.size() && !cancelled(); i = next++) {
        if (lane_of_draft_[biggest_first[i]]) nested[biggest_first[i]] = nest(biggest_first[i], room);
      }
    });
    if (cancelled()) return false;
    for (std::size_t l = 0; l < out_.lanes.size(); ++l) fill_lane(LaneId(l), nested[draft_of_lane_[l]]);
    Column<std::uint32_t>().swap(order_);
    Column<std::uint32_t>().swap(flow_order_);
    return true;
  }

  // Gives every slice of a lane its place, and binds the lane's flows, to file order positions.
  NestedLane nest(std::uint32_t draft, LaneScratch& room) {
    const std::span<const std::uint32_t> raw(order_.data() + lane_first_[draft], slices_of_draft(draft));
    const std::span<const std::uint32_t> flows(flow_order_.data() + flow_first_[draft],
                                               flow_first_[draft + 1] - flow_first_[draft]);
    const bool is_stream = lane_kind_from_slices(drafts_[draft].kinds) == LaneKind::gpu_stream;
    const bool with_kinds = is_stream || !flows.empty();
    room.make(raw.size(), with_kinds);
    for (std::size_t i = 0; i < raw.size(); ++i) {
      const StoredSlice& s = rows_.slices[raw[i]];
      room.begin[i] = s.begin;
      room.end[i] = end_of(s, *rows_.side);
      room.members[i] = static_cast<std::uint32_t>(i);
      if (with_kinds) room.kinds[i] = kind_of_category_[s.category];
    }
    const std::span begins(room.begin.data(), raw.size()), ends(room.end.data(), raw.size());
    const std::span members(room.members.data(), raw.size());
    NestedLane nested = room.nester.nest(members, begins, ends, in_.cancel);
    if (!cancelled() && is_stream && nested.row_counts.size() > 1 && clip(raw, members, begins, ends, room))
      nested = room.nester.nest(members, begins, ends, in_.cancel);
    if (cancelled()) return nested;
    FlowBinder binder(members, begins, ends, room.kinds);
    constexpr std::size_t kCancelEvery = 1u << 13;
    for (std::size_t i = 0; i < flows.size(); ++i) {
      if (i % kCancelEvery == 0 && cancelled()) return nested;
      const std::uint32_t f = flows[i];
      StoredFlow& flow = rows_.flows[f];
      if (const std::uint32_t own = flow_is_of_slice_[flow.kind] ? own_slice(raw, flow) : kUnbound; own != kUnbound) {
        flow.lane_or_slice = own;
        continue;
      }
      std::uint32_t member = binder.slice_at(flow.time(), flow_wants_op_[flow.kind] != 0);
      if (member == kUnbound && flow.phase == 's') member = binder.slice_ended_at(flow.time());
      if (member == kUnbound && flow.to_next) member = binder.next_slice(flow.time());
      if (member != kUnbound) flow.lane_or_slice = raw[member];
    }
    if (nested.overlapping != 0) nested.first_overlapping = raw[nested.first_overlapping];
    const std::uint32_t first = out_.lanes[lane_of_draft_[draft].index()].first_slice;
    room.nester.each_place(members, nested,
                           [&](std::uint32_t member, std::uint32_t place) { slice_of_raw_[raw[member]] = first + place; });
    return nested;
  }

  // The slice of the same event, of a lane's in file order.
  std::uint32_t own_slice(std::span<const std::uint32_t> raw, const StoredFlow& flow) const {
    const auto at = std::lower_bound(raw.begin(), raw.end(), offset_of(flow), [&](std::uint32_t slice, std::uint64_t offset) {
      return offset_of(rows_.slices[slice]) < offset;
    });
    return at != raw.end() && offset_of(rows_.slices[*at]) == offset_of(flow) ? *at : kUnbound;
  }

  // Whether some work of the stream lasted too long, and was cut off.
  bool clip(std::span<const std::uint32_t> raw, std::span<const std::uint32_t> members, std::span<const Ns> begins,
            std::span<Ns> ends, const LaneScratch& room) {
    const std::span<const std::uint8_t> kinds(room.kinds.data(), raw.size());
    if (!lasts_past_other_work(members, begins, ends, kinds, rows_.graph_work > 0)) return false;
    const std::lock_guard lock(clipping_);
    const auto clipped = clip_work(members, begins, ends, kinds, rows_.graph_work > 0, rows_.streams_of(raw));
    SideTables::Writer side(*rows_.side);
    for (const std::uint32_t member : clipped) {
      set_end(rows_.slices[raw[member]], ends[member], side);
      out_.clipped.push_back(offset_of(rows_.slices[raw[member]]));
    }
    return !clipped.empty();
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

  // Slices into their columns, page by page, and meanwhile flows into arrows.
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
    parallel_for(in_.threads, rows_.slices.page_count() + 1, [&](std::size_t i) {
      if (cancelled()) return;
      if (i == 0) return join_all_flows();
      const std::size_t page = i - 1;
      const std::size_t first = rows_.slices.first_of_page(page);
      const StoredSlice* const slices = &rows_.slices[first];
      for (std::size_t row = 0; row < rows_.slices.rows_of_page(page); ++row) {
        const StoredSlice& from = slices[row];
        const std::uint32_t to = slice_of_raw_[first + row];
        s.begin[to] = from.begin;
        s.end[to] = end_of(from, *rows_.side);
        s.name[to] = StringId(from.name);
        s.category[to] = from.category;
        s.external_id[to] = rows_.side->overflow.unpack(from.external_id);
        s.offset[to] = offset_of(from);
      }
      rows_.slices.free_page(page);
    });
    rows_.slices.clear();
    parallel_for(in_.threads, out_.rows.size(),
                 [&](std::size_t r) { std::fill_n(s.row.begin() + out_.rows[r].first, out_.rows[r].count, RowId(r)); });
  }

  void join_all_flows() {
    joined_ = join_flows(rows_.flows, *rows_.side, out_.strings, out_.flow_counts, flow_report_);
    rows_.flows.clear();
  }

  BuildInput in_;
  RowStore& rows_;
  Trace& out_;
  std::vector<ProcessDraft> processes_;
  std::vector<LaneDraft> drafts_;
  std::vector<std::uint8_t> kind_of_category_;
  std::vector<std::uint32_t> lane_first_;  // per draft, into order_
  Column<std::uint32_t> order_;            // positions in file order, lane by lane
  std::vector<std::uint32_t> draft_of_lane_;
  Column<std::uint32_t> slice_of_raw_;                             // the slice at a position in file order
  std::vector<std::pair<std::uint32_t, std::uint32_t>> overlaps_;  // a lane's first overlapping slice (raw) and how many
  std::mutex clipping_;
  std::vector<LaneId> lane_of_draft_;
  std::vector<ProcessId> process_of_draft_;
  Column<std::uint32_t> flow_order_;                            // positions of flows, lane by lane
  std::vector<std::uint32_t> flow_first_;                       // per draft, into flow_order_
  std::vector<std::uint8_t> flow_wants_op_, flow_is_of_slice_;  // per flow kind
  Column<JoinedFlow> joined_;                                   // slices in file order until put_tables
  LoadReport flow_report_;                                      // flows are joined alongside other work that reports
};

}  // namespace

bool build_trace(BuildInput input, Trace& out) { return Builder(std::move(input), out).run(); }

}  // namespace gapscope
