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

#include "core/base/parallel.h"
#include "core/trace/flow_builder.h"
#include "core/trace/half_slices.h"
#include "core/trace/lane_builder.h"
#include "core/trace/lane_titles.h"

namespace gapscope {
namespace {

constexpr std::uint32_t kUnmapped = 0xFFFF'FFFFu;
constexpr Ns kDay = 24 * 3600 * kNsPerS;
constexpr std::size_t kMaxSlices = 0xFFFF'FFF0u;
constexpr std::size_t kMaxCategories = 0xFFFFu;

template <class T>
void release(std::vector<T>& v) {
  std::vector<T>().swap(v);
}

// Gives freed blocks back to the system, so that the peak is not the sum of all stages.
void give_memory_back() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

class Builder {
 public:
  Builder(BuildInput input, Trace& out) : in_(std::move(input)), out_(out) {}

  bool run() {
    count_events();
    number_texts();
    if (cancelled()) return false;  // before anything uses the ids that are not there
    number_lanes();
    pair_half_slices();
    if (!gather_times() || cancelled()) return false;
    prepare_flows();
    if (!nest_all() || cancelled()) return false;
    place_lanes();
    scatter_columns();
    if (cancelled()) return false;
    for (const auto& [raw, count] : overlaps_) {
      const std::uint32_t slice = slice_of_raw_[raw];
      out_.report.add(Oddity::overlap, out_.slices.offset[slice], out_.strings[out_.slices.name[slice]], count);
    }
    put_other_tables();
    if (cancelled()) return false;
    out_.report.merge(flow_report_);
    find_span();
    return true;
  }

 private:
  bool cancelled() const { return in_.cancel != nullptr && in_.cancel->load(std::memory_order_relaxed); }

  void count_events() {
    for (const RawChunk& c : in_.chunks) {
      out_.figures.events += c.events;
      for (std::size_t i = 0; i < c.phases.size(); ++i) out_.figures.phases[i] += c.phases[i];
      out_.report.merge(c.report);
    }
  }

  // Ids in order of first appearance, table by table: names first, then the rest.
  void number_texts() {
    std::vector<std::vector<std::uint32_t>> map(in_.tables.size());
    for (std::size_t t = 0; t < map.size(); ++t) map[t].assign(in_.tables[t]->strings.size(), kUnmapped);
    std::vector<std::uint32_t>* known = nullptr;
    const StringTable* local = nullptr;
    const auto use = [&](const RawChunk& c) {
      known = &map[static_cast<std::size_t>(c.table)];
      local = &in_.tables[static_cast<std::size_t>(c.table)]->strings;
    };
    const auto global = [&](std::uint32_t id) {
      std::uint32_t& mapped = (*known)[id];
      if (mapped == kUnmapped) mapped = out_.strings.intern((*local)[StringId(id)]).value;
      return mapped;
    };
    const auto each = [&](auto body) {
      for (RawChunk& c : in_.chunks) {
        if (cancelled()) return;
        use(c);
        body(c);
      }
    };
    const auto optional = [&](StringId& id) {
      if (id) id = StringId(global(id.value));
    };
    each([&](RawChunk& c) { for (std::uint32_t& id : c.slices.name) id = global(id); });
    each([&](RawChunk& c) { for (std::uint32_t& id : c.slices.category) id = category(global(id)); });
    each([&](RawChunk& c) { for (RawFlow& f : c.flows) { f.category = global(f.category); f.name = global(f.name); } });
    each([&](RawChunk& c) { for (RawInstant& i : c.instants) { i.name = global(i.name); i.category = category(global(i.category)); } });
    each([&](RawChunk& c) { for (RawHalf& h : c.halves) { h.name = global(h.name); h.category = category(global(h.category)); } });
    each([&](RawChunk& c) { for (RawCounter& v : c.counters) { v.name = global(v.name); v.series = global(v.series); } });
    each([&](RawChunk& c) { for (RawName& n : c.names) n.text = global(n.text); });
    each([&](RawChunk& c) { for (OpRow& o : c.slices.ops) { optional(o.input_dims); optional(o.input_types); optional(o.collective); } });
    each([&](RawChunk& c) { for (GpuRow& g : c.slices.gpu) optional(g.annotated_stream); });
  }

  // The category index of a global text id. Past 65,535 categories the rest share the last one, counted.
  std::uint32_t category(std::uint32_t text) {
    if (text >= category_of_text_.size()) category_of_text_.resize(std::max<std::size_t>(text + 1, category_of_text_.size() * 2), kUnmapped);
    std::uint32_t& index = category_of_text_[text];
    if (index != kUnmapped) return index;
    if (out_.categories.size() == kMaxCategories) {
      out_.report.add(Oddity::too_many, 0, out_.strings[StringId(text)]);
      return index = static_cast<std::uint32_t>(kMaxCategories - 1);
    }
    index = static_cast<std::uint32_t>(out_.categories.size());
    out_.categories.push_back({StringId(text), kind_from_category(out_.strings[StringId(text)])});
    return index;
  }

  std::uint32_t process_draft(const std::string& key) {
    const auto [at, is_new] = process_ids_.try_emplace(key, static_cast<std::uint32_t>(processes_.size()));
    if (is_new) processes_.push_back({key, {}, {}, 0, false});
    return at->second;
  }

  std::uint32_t lane_draft(const std::string& process, const std::string& thread, bool is_async) {
    const auto [at, is_new] = lane_ids_.try_emplace(process + '\0' + (is_async ? "async" : "") + '\0' + thread, static_cast<std::uint32_t>(drafts_.size()));
    if (is_new) {
      LaneDraft draft;
      draft.process = process_draft(process);
      draft.key = thread;
      draft.is_async = is_async;
      drafts_.push_back(std::move(draft));
    }
    return at->second;
  }

  void number_lanes() {
    std::vector<std::vector<std::uint32_t>> map(in_.tables.size());
    for (std::size_t t = 0; t < map.size(); ++t) {
      for (const LaneKey& key : in_.tables[t]->lanes()) map[t].push_back(lane_draft(key.process, key.thread, false));
    }
    for (RawChunk& c : in_.chunks) {
      const auto& known = map[static_cast<std::size_t>(c.table)];
      for (std::uint32_t& lane : c.slices.lane) lane = known[lane];
      for (RawFlow& f : c.flows) f.lane = known[f.lane];
      for (RawInstant& i : c.instants) i.lane = known[i.lane];
      for (RawHalf& h : c.halves) h.lane = known[h.lane];
      for (RawCounter& v : c.counters) v.lane = known[v.lane];
      for (RawName& n : c.names) n.lane = known[n.lane];
      for (MemoryRow& m : c.memory) m.lane = LaneId(known[m.lane.index()]);
    }
    for (const RawChunk& c : in_.chunks) {
      for (const RawName& n : c.names) apply_name(n);
    }
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

  void pair_half_slices() {
    std::vector<RawHalf> halves;
    for (RawChunk& c : in_.chunks) {
      halves.insert(halves.end(), c.halves.begin(), c.halves.end());
      release(c.halves);
    }
    if (halves.empty()) return;
    Ns last = std::numeric_limits<Ns>::min();
    for (const RawHalf& h : halves) last = std::max(last, h.time);
    for (const RawChunk& c : in_.chunks) {
      for (const Ns end : c.slices.end) last = std::max(last, end);
    }
    PairedHalves paired = pair_halves(std::move(halves), [&](const RawHalf& h) {
      const std::string process = processes_[drafts_[h.lane].process].key;
      const std::string name(out_.strings[out_.categories[h.category].name]);
      return lane_draft(process, name.empty() ? "async" : "async " + name, true);
    }, out_.report);
    out_.figures.matched_begin_end = paired.matched;
    RawChunk extra;
    for (const PairedSlice& s : paired.slices) {
      extra.slices.begin.push_back(s.begin);
      extra.slices.end.push_back(s.open ? last : s.end);
      extra.slices.name.push_back(s.name);
      extra.slices.category.push_back(s.category);
      extra.slices.lane.push_back(s.lane);
      extra.slices.offset.push_back(0);
      extra.slices.wide_offset.push_back(s.offset);
      extra.slices.external_id.push_back(s.external_id);
    }
    extra.instants = std::move(paired.instants);
    in_.chunks.push_back(std::move(extra));
  }

  // Times, lanes and kinds of all slices side by side, in file order.
  bool gather_times() {
    first_.push_back(0);
    for (const RawChunk& c : in_.chunks) first_.push_back(first_.back() + c.slices.size());
    const std::size_t n = first_.back();
    if (n > kMaxSlices) {
      out_.report.add(Oddity::too_many, 0, "more than 4,294,967,279 slices");
      return false;
    }
    begin_.resize(n);
    end_.resize(n);
    lane_.resize(n);
    kind_.resize(n);
    parallel_for(in_.threads, in_.chunks.size(), [&](std::size_t i) {
      RawSlices& s = in_.chunks[i].slices;
      std::copy(s.begin.begin(), s.begin.end(), begin_.begin() + static_cast<std::ptrdiff_t>(first_[i]));
      std::copy(s.end.begin(), s.end.end(), end_.begin() + static_cast<std::ptrdiff_t>(first_[i]));
      std::copy(s.lane.begin(), s.lane.end(), lane_.begin() + static_cast<std::ptrdiff_t>(first_[i]));
      for (std::size_t k = 0; k < s.size(); ++k) kind_[first_[i] + k] = static_cast<std::uint8_t>(out_.categories[s.category[k]].kind);
      release(s.begin);
      release(s.end);
      release(s.lane);
    });
    give_memory_back();
    return true;
  }

  // All flows side by side in file order, and pointers to them lane by lane in time order.
  void prepare_flows() {
    flows_.reserve(rows_in_chunks(&RawChunk::flows));
    for (RawChunk& c : in_.chunks) {
      flows_.insert(flows_.end(), c.flows.begin(), c.flows.end());
      release(c.flows);
    }
    flow_first_.assign(drafts_.size() + 1, 0);
    for (RawFlow& f : flows_) {
      f.wants_op = out_.strings[StringId(f.category)] == "fwdbwd";
      ++flow_first_[f.lane + 1];
    }
    std::partial_sum(flow_first_.begin(), flow_first_.end(), flow_first_.begin());
    std::vector<std::uint32_t> next(flow_first_.begin(), flow_first_.end() - 1);
    flow_order_.resize(flows_.size());
    for (RawFlow& f : flows_) flow_order_[next[f.lane]++] = &f;
  }

  bool nest_all() {
    std::vector<std::uint32_t> count(drafts_.size() + 1, 0);
    for (std::size_t s = 0; s < lane_.size(); ++s) {
      ++count[lane_[s] + 1];
      drafts_[lane_[s]].kinds |= std::uint32_t{1} << kind_[s];
    }
    std::partial_sum(count.begin(), count.end(), count.begin());
    lane_first_ = count;
    order_.resize(lane_.size());
    for (std::uint32_t s = 0; s < lane_.size(); ++s) order_[count[lane_[s]]++] = s;
    release(lane_);
    if (cancelled()) return false;

    nested_.resize(drafts_.size());
    std::vector<std::uint32_t> biggest_first(drafts_.size());
    std::iota(biggest_first.begin(), biggest_first.end(), 0u);
    const auto size_of = [&](std::uint32_t l) { return lane_first_[l + 1] - lane_first_[l]; };
    std::sort(biggest_first.begin(), biggest_first.end(), [&](std::uint32_t a, std::uint32_t b) { return size_of(a) > size_of(b); });
    parallel_for(in_.threads, drafts_.size(), [&](std::size_t i) {
      if (cancelled()) return;
      const std::uint32_t lane = biggest_first[i];
      const std::span<std::uint32_t> members(order_.data() + lane_first_[lane], size_of(lane));
      const auto flows = flows_of_lane(lane);
      nested_[lane] = nest_lane(members, begin_, end_, [&](std::span<const std::uint32_t> sorted) {
        bind_lane_flows(flows, sorted, begin_, end_, kind_);
      });
    });
    release(kind_);
    return true;
  }

  std::span<RawFlow* const> flows_of_lane(std::uint32_t lane) {
    const std::span all(flow_order_.data() + flow_first_[lane], flow_first_[lane + 1] - flow_first_[lane]);
    const auto earlier = [](const RawFlow* a, const RawFlow* b) { return a->time < b->time; };
    if (!std::is_sorted(all.begin(), all.end(), earlier)) std::stable_sort(all.begin(), all.end(), earlier);
    return all;
  }

  // Display order, rows, and where each raw slice goes.
  void place_lanes() {
    std::vector<bool> has_counters(processes_.size(), false);
    for (std::size_t l = 0; l < drafts_.size(); ++l) drafts_[l].has_content = lane_first_[l + 1] > lane_first_[l];
    for (const RawChunk& c : in_.chunks) {
      for (const RawCounter& v : c.counters) has_counters[drafts_[v.lane].process] = true;
      for (const RawInstant& i : c.instants) drafts_[i.lane].has_content = drafts_[i.lane].has_content || !i.is_global;
    }
    LaneOrder order = order_lanes(processes_, drafts_, has_counters, out_.header.devices);
    out_.processes = std::move(order.processes);
    out_.lanes = std::move(order.lanes);
    lane_of_draft_ = std::move(order.lane_of_draft);
    process_of_draft_ = std::move(order.process_of_draft);

    std::vector<std::uint32_t> draft_of_lane(out_.lanes.size());
    for (std::uint32_t d = 0; d < lane_of_draft_.size(); ++d) {
      if (lane_of_draft_[d]) draft_of_lane[lane_of_draft_[d].index()] = d;
    }
    slice_of_raw_.resize(order_.size());
    std::uint32_t next = 0;
    for (std::size_t l = 0; l < out_.lanes.size(); ++l) {
      const std::uint32_t draft = draft_of_lane[l];
      fill_lane(LaneId(l), nested_[draft], next);
      for (std::uint32_t i = lane_first_[draft]; i < lane_first_[draft + 1]; ++i) slice_of_raw_[order_[i]] = next++;
    }
    release(order_);
  }

  void fill_lane(LaneId id, const NestedLane& nested, std::uint32_t first) {
    Lane& lane = out_.lanes[id.index()];
    lane.first_row = static_cast<std::uint32_t>(out_.rows.size());
    lane.depth_count = static_cast<std::uint32_t>(nested.row_counts.size());
    lane.first_slice = first;
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
    const auto scatter_flat = [&](std::vector<Ns>& from, std::vector<Ns>& to) {
      to.resize(n);
      constexpr std::size_t kPiece = 65536;
      parallel_for(in_.threads, (n + kPiece - 1) / kPiece, [&](std::size_t piece) {
        if (cancelled()) return;
        for (std::size_t i = piece * kPiece; i < std::min(n, (piece + 1) * kPiece); ++i) to[slice_of_raw_[i]] = from[i];
      });
      release(from);
    };
    const auto scatter = [&](auto& to, auto value_of, auto free_column) {
      to.resize(n);
      parallel_for(in_.threads, in_.chunks.size(), [&](std::size_t c) {
        if (cancelled()) return;
        RawChunk& chunk = in_.chunks[c];
        const std::size_t count = first_[c + 1] - first_[c];
        for (std::size_t i = 0; i < count; ++i) to[slice_of_raw_[first_[c] + i]] = value_of(chunk, i);
        free_column(chunk);
      });
      give_memory_back();
    };
    scatter_flat(begin_, s.begin);
    scatter_flat(end_, s.end);
    scatter(s.name, [](RawChunk& c, std::size_t i) { return StringId(c.slices.name[i]); }, [](RawChunk& c) { release(c.slices.name); });
    scatter(s.category, [](RawChunk& c, std::size_t i) { return static_cast<std::uint16_t>(c.slices.category[i]); },
            [](RawChunk& c) { release(c.slices.category); });
    scatter(s.external_id, [](RawChunk& c, std::size_t i) { return c.slices.external_id[i]; }, [](RawChunk& c) { release(c.slices.external_id); });
    scatter(s.offset, [](RawChunk& c, std::size_t i) {
      return c.slices.wide_offset.empty() ? c.base_offset + c.slices.offset[i] : c.slices.wide_offset[i];
    }, [](RawChunk& c) { release(c.slices.offset); });
    s.row.resize(n);
    for (std::size_t r = 0; r < out_.rows.size(); ++r) {
      std::fill_n(s.row.begin() + out_.rows[r].first, out_.rows[r].count, RowId(r));
    }
  }

  // Side rows in order of their slices, without sorting: where a row goes is how many slices before its own have one.
  template <class Table>
  void put_rows(std::vector<Table> RawSlices::*from, std::vector<Table>& to) {
    std::vector<std::uint64_t> has_row(slice_of_raw_.size() / 64 + 1, 0);
    std::size_t n = 0;
    const auto slice_of = [&](std::size_t chunk, const Table& row) { return slice_of_raw_[first_[chunk] + row.slice.index()]; };
    for (std::size_t c = 0; c < in_.chunks.size(); ++c) {
      for (const Table& row : in_.chunks[c].slices.*from) {
        const std::uint32_t slice = slice_of(c, row);
        has_row[slice / 64] |= std::uint64_t{1} << (slice % 64);
        ++n;
      }
    }
    std::vector<std::uint32_t> before(has_row.size() + 1, 0);
    for (std::size_t w = 0; w < has_row.size(); ++w) before[w + 1] = before[w] + static_cast<std::uint32_t>(std::popcount(has_row[w]));
    to.resize(n);
    for (std::size_t c = 0; c < in_.chunks.size(); ++c) {
      for (const Table& row : in_.chunks[c].slices.*from) {
        const std::uint32_t slice = slice_of(c, row);
        const std::uint64_t lower = has_row[slice / 64] & ((std::uint64_t{1} << (slice % 64)) - 1);
        Table& place = to[before[slice / 64] + static_cast<std::uint32_t>(std::popcount(lower))];
        place = row;
        place.slice = SliceId(slice);
      }
      release(in_.chunks[c].slices.*from);
    }
  }

  // The tables that do not depend on each other, side by side.
  void put_other_tables() {
    const std::array<void (Builder::*)(), 5> parts = {&Builder::put_ops, &Builder::put_flows, &Builder::put_gpu_and_calls,
                                                      &Builder::put_instants_and_memory, &Builder::put_counters};
    parallel_for(in_.threads, parts.size(), [&](std::size_t i) {
      if (cancelled()) return;
      (this->*parts[i])();
      give_memory_back();
    });
  }
  void put_ops() { put_rows(&RawSlices::ops, out_.ops); }
  void put_gpu_and_calls() {
    put_rows(&RawSlices::gpu, out_.gpu);
    put_rows(&RawSlices::calls, out_.calls);
  }
  void put_instants_and_memory() {
    put_instants();
    put_memory();
  }

  template <class Table>
  std::size_t rows_in_chunks(std::vector<Table> RawChunk::*table) const {
    std::size_t n = 0;
    for (const RawChunk& c : in_.chunks) n += (c.*table).size();
    return n;
  }

  void put_instants() {
    out_.instants.reserve(rows_in_chunks(&RawChunk::instants));
    for (RawChunk& c : in_.chunks) {
      for (const RawInstant& i : c.instants) {
        out_.instants.push_back({i.time, StringId(i.name), i.is_global ? LaneId{} : lane_of_draft_[i.lane], static_cast<std::uint16_t>(i.category), i.offset});
      }
      release(c.instants);
    }
    const auto before = [](const Instant& a, const Instant& b) { return std::tuple(a.lane, a.time) < std::tuple(b.lane, b.time); };
    if (!std::is_sorted(out_.instants.begin(), out_.instants.end(), before)) std::stable_sort(out_.instants.begin(), out_.instants.end(), before);
    for (std::uint32_t i = 0; i < out_.instants.size(); ++i) {
      if (!out_.instants[i].lane) continue;
      Lane& lane = out_.lanes[out_.instants[i].lane.index()];
      if (lane.instant_count++ == 0) lane.first_instant = i;
    }
  }

  void put_counters() {
    std::unordered_map<std::uint64_t, std::vector<std::size_t>> known;  // by name and series, few processes each
    for (RawChunk& c : in_.chunks) {
      for (const RawCounter& v : c.counters) {
        const ProcessId process = process_of_draft_[drafts_[v.lane].process];
        std::vector<std::size_t>& candidates = known[(std::uint64_t{v.name} << 32) | v.series];
        auto at = std::find_if(candidates.begin(), candidates.end(), [&](std::size_t k) { return out_.counters[k].process == process; });
        if (at == candidates.end()) {
          candidates.push_back(out_.counters.size());
          out_.counters.push_back({process, StringId(v.name), StringId(v.series), {}});
          at = candidates.end() - 1;
        }
        out_.counters[*at].samples.push_back({v.time, v.value});
      }
      release(c.counters);
    }
    for (Counter& counter : out_.counters) {
      std::stable_sort(counter.samples.begin(), counter.samples.end(), [](const CounterSample& a, const CounterSample& b) { return a.time < b.time; });
    }
    std::stable_sort(out_.counters.begin(), out_.counters.end(), [](const Counter& a, const Counter& b) { return a.process < b.process; });
  }

  void put_memory() {
    out_.memory.reserve(rows_in_chunks(&RawChunk::memory));
    for (RawChunk& c : in_.chunks) {
      for (MemoryRow m : c.memory) {
        m.lane = lane_of_draft_[m.lane.index()];
        out_.memory.push_back(m);
      }
      release(c.memory);
    }
    const auto earlier = [](const MemoryRow& a, const MemoryRow& b) { return a.time < b.time; };
    if (!std::is_sorted(out_.memory.begin(), out_.memory.end(), earlier)) std::stable_sort(out_.memory.begin(), out_.memory.end(), earlier);
  }

  void put_flows() {
    release(flow_order_);
    std::vector<JoinedFlow> joined = join_flows(flows_, out_.strings, out_.flow_counts, flow_report_);
    release(flows_);
    if (cancelled()) return;
    for (JoinedFlow& f : joined) f = {slice_of_raw_[f.from], slice_of_raw_[f.to], f.category};
    std::sort(joined.begin(), joined.end(), [](const JoinedFlow& a, const JoinedFlow& b) {
      return std::tuple(a.from, a.to, a.category) < std::tuple(b.from, b.to, b.category);
    });
    out_.flows.reserve(joined.size());
    for (const JoinedFlow& f : joined) out_.flows.push_back({SliceId(f.from), SliceId(f.to), StringId(f.category)});
  }

  // First begin to last end, without what lies more than a day (the limit of the TensorBoard plugin for stray window
  // marks) and more than a hundred times the bulk's own length from the bulk.
  void find_span() {
    drop_absurd_marks();
    std::vector<Ns> sample;
    const auto& begin = out_.slices.begin;
    const std::size_t step = begin.size() / 4096 + 1;
    for (std::size_t i = 0; i < begin.size(); i += step) sample.push_back(begin[i]);
    for (std::size_t i = 0; begin.empty() && i < out_.instants.size(); ++i) sample.push_back(out_.instants[i].time);
    if (sample.empty()) {
      for (const Counter& c : out_.counters) for (const CounterSample& v : c.samples) sample.push_back(v.time);
    }
    if (sample.empty()) return;
    std::sort(sample.begin(), sample.end());
    const Span bulk{sample[sample.size() / 4], sample[sample.size() - 1 - sample.size() / 4]};
    const Ns reach = std::max(kDay, bulk.length() < std::numeric_limits<Ns>::max() / 200 ? bulk.length() * 100 : std::numeric_limits<Ns>::max() / 2);
    const auto near = [&](Ns t) {
      return (t >= bulk.begin || static_cast<__int128>(bulk.begin) - t <= reach) && (t <= bulk.end || static_cast<__int128>(t) - bulk.end <= reach);
    };
    Span span{bulk.begin, bulk.begin};
    bool any = false;
    for (std::size_t i = 0; i < begin.size(); ++i) {
      if (!near(begin[i])) {
        out_.report.add(Oddity::absurd_time, out_.slices.offset[i], out_.strings[out_.slices.name[i]]);
        continue;
      }
      const Span slice{begin[i], near(out_.slices.end[i]) ? out_.slices.end[i] : begin[i]};
      span = any ? hull(span, slice) : slice;
      any = true;
    }
    if (begin.empty()) span = {sample.front(), sample.back()};
    out_.span = span;
  }

  void drop_absurd_marks() {
    if (out_.slices.size() == 0) return;
    Span all{std::numeric_limits<Ns>::max(), std::numeric_limits<Ns>::min()};
    for (const Lane& lane : out_.lanes) {
      if (lane.slice_count != 0) all = hull(all, lane.span);
    }
    std::erase_if(out_.instants, [&](const Instant& i) {
      const bool absurd = !i.lane && out_.strings[i.name] == "Record Window End" &&
                          (static_cast<__int128>(i.time) - all.end > kDay || static_cast<__int128>(all.begin) - i.time > kDay);
      if (absurd) out_.report.add(Oddity::absurd_window_end, i.offset, "Record Window End");
      return absurd;
    });
  }

  BuildInput in_;
  Trace& out_;
  std::vector<std::uint32_t> category_of_text_;
  std::unordered_map<std::string, std::uint32_t> process_ids_;
  std::unordered_map<std::string, std::uint32_t> lane_ids_;
  std::vector<ProcessDraft> processes_;
  std::vector<LaneDraft> drafts_;
  std::vector<std::size_t> first_;             // raw position of each chunk's first slice; one more at the end
  std::vector<Ns> begin_, end_;                // by raw position
  std::vector<std::uint32_t> lane_;
  std::vector<std::uint8_t> kind_;
  std::vector<std::uint32_t> lane_first_;      // per draft, into order_
  std::vector<std::uint32_t> order_;           // raw positions, lane by lane
  std::vector<NestedLane> nested_;
  std::vector<std::uint32_t> slice_of_raw_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> overlaps_;  // a lane's first overlapping slice (raw) and how many
  std::vector<LaneId> lane_of_draft_;
  std::vector<ProcessId> process_of_draft_;
  std::vector<RawFlow> flows_;
  std::vector<RawFlow*> flow_order_;           // lane by lane
  std::vector<std::uint32_t> flow_first_;      // per draft, into flow_order_
  LoadReport flow_report_;                     // flows are joined beside other work that reports
};

}  // namespace

bool build_trace(BuildInput input, Trace& out) { return Builder(std::move(input), out).run(); }

}  // namespace gapscope
